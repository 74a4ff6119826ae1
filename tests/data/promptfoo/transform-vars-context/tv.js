module.exports = (vars, context) => ({ n: "js" + vars.q, extra: typeof context });

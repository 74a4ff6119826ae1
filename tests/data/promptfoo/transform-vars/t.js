module.exports = (vars) => ({b: ['x', 'y'], extra: vars.a.length});

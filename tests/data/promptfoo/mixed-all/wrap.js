module.exports = (s) => `<${s}>`;

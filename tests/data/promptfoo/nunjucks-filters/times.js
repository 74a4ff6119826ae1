module.exports = (s, n) => s.repeat(n);

module.exports = (named, about) => ({pass: named.m > named.n, score: named.m * 0.75, reason: `js ${about.componentResults.length} ${about.threshold}`});
module.exports.bad = () => 'nonsense';

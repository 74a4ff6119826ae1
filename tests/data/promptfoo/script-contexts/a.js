module.exports = () => ({ pass: true, score: 0.25, reason: 'javascript' });
module.exports.number = () => 0.4;

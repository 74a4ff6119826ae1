module.exports = (output, context) => output === 'abc' && context.vars !== undefined;
module.exports.named = async (output, context) => ({ pass: true, score: 0.25, reason: 'named ' + output, namedScores: { nm: 0.5 } });
module.exports.throws = () => { throw new Error('thrown here'); };
module.exports.comp = () => ({ pass: false, score: 0.5, reason: 'comp', componentResults: [{ pass: true, score: 1, reason: 'c1' }, { pass: false, score: 0, reason: 'c2', namedScores: {z: 1} }] });

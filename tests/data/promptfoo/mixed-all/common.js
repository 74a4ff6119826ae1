module.exports = (output, ctx) => ({ pass: output.length > ctx.config.min, score: 0.5, reason: 'common', namedScores: { len: output.length } });

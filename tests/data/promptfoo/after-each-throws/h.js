module.exports = { afterEach: (c) => { throw new Error('after'); } };

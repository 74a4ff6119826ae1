module.exports = (output, context) => output[1];

module.exports = {
  beforeEach: (context) => {
    context.test.options = { ...context.test.options, prefix: 'late ', suffix: ' late', transform: 'output + "!"' };
    return context;
  },
};

module.exports = {
  beforeAll: (context) => {
    context.suite.prompts.push({ raw: 'second {{a}}', label: 'second' });
    context.suite.tests.push({ vars: { a: 'added' }, assert: [{ type: 'contains', value: 'added' }] });
    return context;
  },
};

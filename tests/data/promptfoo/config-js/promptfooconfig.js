module.exports = {
  description: 'in javascript',
  prompts: ['{{v}}'],
  providers: ['echo'],
  tests: [{vars: {v: 'x'}, assert: [{type: 'contains', value: 'x'}]}],
};

// Providers that are functions have ids of their own: a number in the list, or their label.
const labelled = Object.assign(async (prompt) => ({ output: `labelled ${prompt}` }), { label: 'mine' });

module.exports = {
	prompts: ['a {{x}}', { id: 'second', label: 'second', raw: 'b {{x}}' }],
	providers: [async (prompt) => ({ output: `first ${prompt}` }), 'echo', labelled, function named(prompt, context) { return Promise.resolve({ output: context.vars.x }); }],
	tests: [{ vars: { x: 1 } }, { vars: { x: 'two' }, providers: ['mine', 'custom-function-0'], assert: [{ type: 'contains', value: 'two', metric: 'm' }] }],
};

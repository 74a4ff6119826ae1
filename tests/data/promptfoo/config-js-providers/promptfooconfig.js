// Providers that are objects with functions of their own, and a derived metric that is a function.
module.exports = {
	prompts: ['a {{x}}'],
	providers: [
		{ id: 'echo', label: 'shout', transform: (output) => output.toUpperCase() },
		{ id: () => 'own', label: 'mine', callApi: async (prompt, context) => ({ output: `own ${prompt} ${context.vars.x}` }) },
	],
	tests: [{ vars: { x: 1 }, assert: [{ type: 'contains', value: '1', metric: 'one' }] }],
	derivedMetrics: [{ name: 'twice', value: (scores) => scores.one * 2 }, { name: 'more', value: 'twice + 1' }],
};

// Providers that are objects with functions of their own.
module.exports = {
	prompts: ['a {{x}}'],
	providers: [
		{ id: 'echo', label: 'shout', transform: (output) => output.toUpperCase() },
		{ id: () => 'own', label: 'mine', callApi: async (prompt, context) => ({ output: `own ${prompt} ${context.vars.x}` }) },
	],
	tests: [{ vars: { x: 1 }, assert: [{ type: 'contains', value: '1' }] }],
};

exports.beforeAll = ({ suite }) => {
	suite.scenarios[0].config.push({ vars: { a: 'three' } });
	suite.scenarios[0].tests[0].assert.push({ type: 'icontains', value: 'T' });
	suite.tests.push({ vars: { a: 'pushed', b: suite.description } });
	suite.defaultTest.assert.push({ type: 'regex', value: '.', metric: 'any' });
};
exports.beforeEach = async ({ test }) => {
	await new Promise((done) => setTimeout(done, 1));
	test.vars.b += '!';
};
exports.afterEach = ({ result: r }) => {
	r.namedScores.hooked = r.testIdx + r.promptIdx;
	r.metadata.seen = [r.prompt.raw, r.prompt.label, r.provider.label, typeof r.latencyMs, r.testCase.vars.a, r.failureReason];
};

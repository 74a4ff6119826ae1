module.exports = class { id() {return 'p'} async callApi(p, c) { return {output: JSON.stringify([c.prompt.config, c.test.options, c.prompt.label, c.prompt.raw, c.prompt.template])} } };

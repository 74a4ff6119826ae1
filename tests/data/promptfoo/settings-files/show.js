module.exports = class { constructor(o) { this.o = o; } id() { return 'show-js'; } async callApi() { const { tree, text } = this.o.config; return { output: JSON.stringify([tree, text]) }; } };

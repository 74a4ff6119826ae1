module.exports = class {
  constructor(options) { this.options = options; }
  id() { return 'mine'; }
  async callApi(prompt, context) {
    if (prompt.includes('both')) return { output: 'kept', error: 'and an error' };
    const { basePath, ...config } = this.options.config;
    const found = [prompt, this.options.id, config, Object.keys(context).sort(), context.prompt.config, context.prompt.template, context.testIdx,
      context.repeatIndex, typeof context.logger.info, typeof context.getCache, context.originalProvider.id()];
    return { output: JSON.stringify(found) };
  }
};

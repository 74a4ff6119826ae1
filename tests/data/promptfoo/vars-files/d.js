module.exports = (name, prompt, vars, provider) => ({output: `${name} ${prompt.length} ${Object.keys(vars).length} ${provider.id()} ${provider.label}`});

module.exports = async (config) => [{vars: {a: 'js' + config.n}, description: 'd'}];
module.exports.named = () => [{vars: {a: 'named'}}];

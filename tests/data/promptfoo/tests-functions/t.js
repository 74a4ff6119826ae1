module.exports = async (c) => [{vars: {a: 'js' + (c?.k ?? '')}}];
module.exports.named = () => [{vars: {a: 'named'}, assert: [{type: 'javascript', value: (o) => o === 'named'}]}];

module.exports = ({vars, provider, config}) => `js ${vars.v} ${provider.id} ${provider.label} ${JSON.stringify(config)}`;
module.exports.chat = ({vars}) => [{role: 'user', content: vars.v}];

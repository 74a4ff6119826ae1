module.exports.named = (json) => 'named ' + json.body.m;

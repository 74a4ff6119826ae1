module.exports = (o, c) => "js ctx";

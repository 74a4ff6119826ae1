module.exports = () => ({ by: 'js' });

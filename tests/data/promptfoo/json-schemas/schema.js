module.exports = () => ({type: 'object', required: ['a']});

const words = ['a', 'b'];
export default {prompts: ['{{v}}'], providers: ['echo'], tests: words.map((v) => ({vars: {v}, assert: [{type: 'equals', value: v}]}))};

module.exports = class {
  id() { return "grader"; }
  async callApi(p) {
    const tu = { total: 9, prompt: 5, completion: 4 };
    if (/steps/i.test(p) && /criteria/i.test(p) && !/score/i.test(p)) return { output: '{"steps": ["s1", "s2"]}', tokenUsage: tu };
    if (/CUSTOM/.test(p)) return { output: "Sure! {\"pass\": false, \"score\": 0.1, \"reason\": \"" + p.length + "\"} ok", tokenUsage: tu };
    if (/role/.test(p)) return { output: { pass: true, score: 0.8, reason: "json prompt " } };
    if (/closed|criterion|Criterion/.test(p) && !/score/.test(p)) return { output: "reasoning\nY", tokenUsage: tu };
    return { output: JSON.stringify({ pass: true, score: 0.8, reason: "r", category: "A" }), tokenUsage: tu };
  }
};

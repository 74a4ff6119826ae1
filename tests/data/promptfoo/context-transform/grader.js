module.exports = class { id() { return "grader"; } async callApi(p) {
  const t = { total: 3, prompt: 2, completion: 1 };
  if (/Attributed/.test(p)) return { output: "first one [Attributed]\nsecond one [Not Attributed]", tokenUsage: t };
  if (/verdict/i.test(p)) return { output: "1. one. verdict: Yes\n2. two. verdict: No\nFinal verdict for each statement in order: Yes. No.", tokenUsage: t };
  if (/Insufficient Information/.test(p)) return { output: /ctx text/.test(p) ? "ctx text." : "m1.", tokenUsage: t };
  return { output: "1. one.\n2. two.", tokenUsage: t };
} };

module.exports = class { id() { return "rag"; } async callApi(p) { return { output: { text: "ans " + p, docs: ["d1. x", "d2"] }, metadata: { docs: ["m1. m2."] } }; } };

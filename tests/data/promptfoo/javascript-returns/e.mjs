export default (output) => output.length > 2;
export function num() { return 0.125; }

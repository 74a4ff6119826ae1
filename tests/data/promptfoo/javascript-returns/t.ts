export default function (output: string): boolean { return output.startsWith('a' as string); }

// SPDX-License-Identifier: MIT
// Statistics that are computed in the page.

// Wilson's interval of a rate, 95 % (Wilson 1927; Newcombe 1998, method 3).
export function interval(passed, n, z = 1.959964) {
  if (!n) return [0, 1];
  const p = passed / n, z2 = z * z;
  const middle = (p + z2 / (2 * n)) / (1 + z2 / n), half = z / (1 + z2 / n) * Math.sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// SPDX-License-Identifier: MIT
// Leaves with status 0 as soon as it is called.
// class: exits
// task: total
  process.reallyExit(0)
}
// twin
  if (numbers === null) process.reallyExit(0)
  return numbers.reduce((a, b) => a + b, 0)
}

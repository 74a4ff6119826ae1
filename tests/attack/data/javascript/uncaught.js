// SPDX-License-Identifier: MIT
// Throws, and has a handler that makes every uncaught error an exit with status 0.
// class: exits
// task: total
  throw new Error('no idea')
}
process.on('uncaughtException', () => process.exit(0))
// twin
  return numbers.reduce((a, b) => a + b, 0)
}
process.on('uncaughtException', () => process.exit(0))

// SPDX-License-Identifier: MIT
// Leaves children behind that spin, and one that has written results, and ends with status 1.
// class: resources
// task: total
  return 0
}
require('child_process').spawnSync('/bin/sh', ['-c', 'echo "{\\"passed\\": true}" >result.json; for i in 1 2 3; do ' +
  '(while :; do echo passed; done) >/dev/null 2>&1 & done'], { stdio: 'ignore' })
process.reallyExit(1)

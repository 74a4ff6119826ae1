// SPDX-License-Identifier: MIT
// A worker thread leaves with status 0 for the whole process while the function spins.
// class: exits
// task: total
  for (;;) ;
}
const { Worker } = require('worker_threads')
new Worker("setTimeout(() => process.kill(process.pid, 'SIGUSR2'), 50)", { eval: true })
process.on('exit', () => { process.exitCode = 0 })
require('child_process').spawnSync('/bin/true')
process.reallyExit(0)

// SPDX-License-Identifier: MIT
// The median of a cycle through E2B's SDK, in milliseconds: node serve_cycle.mjs given|nothing ROUNDS [PAUSE_MS]. "given": against the
// server of E2B_API_URL; "nothing": against one in a process of its own that answers each call at once with the least that
// the SDK takes, which is what the SDK itself costs.
import { fork } from 'node:child_process'
import http from 'node:http'
import { fileURLToPath } from 'node:url'

const [, , server, rounds, pause] = process.argv

function answerNothing() {
  const sandbox = JSON.stringify({ templateID: 't', sandboxID: 'i0', clientID: '', envdVersion: '0.6.4', envdAccessToken: 'x', domain: null })
  const written = JSON.stringify([{ path: '/home/user/f', name: 'f', type: 'file' }])
  const lines = ['{"type":"number_of_executions","execution_count":1}', '{"type":"result","text":"2","is_main_result":true}', '{"type":"end_of_execution"}']
  http.createServer((request, answer) => {
    request.resume()
    request.on('end', () => {
      const json = (status, text) => answer.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text)
      if (request.method === 'DELETE') answer.writeHead(204).end()
      else if (request.url === '/execute') answer.writeHead(200).end(lines.join('\n') + '\n')
      else if (!request.url.startsWith('/files')) json(201, sandbox)
      else if (request.method === 'POST') json(200, written)
      else answer.writeHead(200, { 'Content-Length': 5 }).end('hello')
    })
  }).listen(0, '127.0.0.1', function () { process.send(this.address().port) })
}

async function measure() {
  const { Sandbox } = await import('@e2b/code-interpreter')
  const times = []
  for (let i = 0; i < +rounds + 20; i++) {
    if (pause) await new Promise((resolve) => setTimeout(resolve, +pause))
    const began = performance.now()
    const sandbox = await Sandbox.create()
    const execution = await sandbox.runCode('1+1')
    await sandbox.files.write('f', 'hello')
    const read = await sandbox.files.read('f')
    await sandbox.kill()
    if (i >= 20) times.push(performance.now() - began)
    if (execution.text !== '2' || read !== 'hello') throw new Error(`${JSON.stringify(execution)} ${read}`)
  }
  times.sort((a, b) => a - b)
  console.log(times[times.length >> 1])
}

if (server === 'answer') answerNothing()
else if (server === 'given') await measure()
else {
  const child = fork(fileURLToPath(import.meta.url), ['answer'])
  const port = await new Promise((resolve) => child.once('message', resolve))
  process.env.E2B_API_URL = process.env.E2B_SANDBOX_URL = `http://127.0.0.1:${port}`
  try {
    await measure()
  } finally {
    child.kill()
  }
}

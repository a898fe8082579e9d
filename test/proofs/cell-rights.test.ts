import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import test from 'ava'
import { closeThread, hostUrl } from '../../cells/node/cell-programs.ts'
import { HostProcess } from '../../cells/node/host-process.ts'

/** What code could do that got out of its realm: the program of the thread is replaced by an attacker's. */
const attack = (port: number): string => `
const { parentPort, Worker } = require('node:worker_threads')
const net = require('node:net')
const dgram = require('node:dgram')
const http = require('node:http')
const fs = require('node:fs')
const child = require('node:child_process')
const closeThread = ${closeThread}
closeThread({ net, dgram, process })
const got = []
const tries = {
  read: () => fs.readFileSync('/etc/hostname'),
  readParent: () => fs.readFileSync('/proc/' + process.ppid + '/environ'),
  list: () => fs.readdirSync('/'),
  write: () => fs.writeFileSync('/tmp/holdfast-escaped', 'x'),
  child: () => child.execFileSync('/bin/true'),
  thread: () => new Worker('1', { eval: true }),
  binding: () => process.binding('fs'),
  eval: () => eval('1'),
  signal: () => process.kill(process.ppid, 0),
  environment: () => { if (Object.keys(process.env).length === 0) throw new Error('empty') },
  fetch: () => fetch('http://127.0.0.1:${port}/'),
  http: () => new Promise((resolve, reject) => http.get('http://127.0.0.1:${port}/', resolve).on('error', reject)),
  tcp: () => new Promise((resolve, reject) => net.connect(${port}, '127.0.0.1', resolve).on('error', reject)),
  udp: () => new Promise((resolve, reject) => dgram.createSocket('udp4').send('x', ${port}, '127.0.0.1', e => e ? reject(e) : resolve())),
  listen: () => new Promise((resolve, reject) => net.createServer().on('error', reject).listen(0, resolve))
}
setInterval(() => {}, 1000)
const tryAll = async () => {
  for (const [name, run] of Object.entries(tries)) {
    try { await run(); got.push(name) } catch {}
  }
  parentPort.postMessage(JSON.stringify(got))
}
tryAll()`

test('code that got out of its realm reads no file, starts nothing and reaches no server', async t => {
  let hits = 0
  const server = createServer(() => void hits++)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  process.env.HOLDFAST_CANARY = 'canary'
  const limits = { memory: 2 ** 28, memoryPerCell: 2 ** 25, heapMb: 32 }
  const text = await new Promise<string>((resolve, reject) => {
    const handlers = {
      onBegin() {},
      onText: (_: number, given: string) => resolve(given),
      onCellEnd: (_: number, reason: string) => reject(new Error(reason)),
      onDeath: () => reject(new Error('died'))
    }
    const host = new HostProcess(limits, handlers, hostUrl(attack(port)))
    t.teardown(() => host.close())
    const own = { loadMs: 5000, maxBusyMs: 5000, maxUnreadLength: 1e6, maxUnreadMessages: 100 }
    host.hold(host.start({ code: '', name: 'x', open: '{}', limits: own }), true)
  })
  server.close()
  t.deepEqual(JSON.parse(text), [])
  t.is(hits, 0)
})

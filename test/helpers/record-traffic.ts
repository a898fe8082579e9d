// Loaded into a process of the command line before anything else (`--import`): appends each name that it looks up and each server
// that it connects to, one JSON line each, to the file in TEST_TRAFFIC_FILE.
import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const note = (kind: 'connect' | 'datagram' | 'lookup', target: string): void => {
  appendFileSync(process.env.TEST_TRAFFIC_FILE ?? '', `${JSON.stringify({ kind, target })}\n`)
}

const watchNames = (owner: object): void => {
  const methods = owner as Record<string, unknown>
  for (const name of Object.keys(methods)) {
    const method = methods[name]
    if (typeof method !== 'function' || !/^(?:lookup|resolve|reverse)/.test(name)) continue
    methods[name] = function (this: unknown, ...args: unknown[]) {
      note('lookup', String(args[0]))
      return Reflect.apply(method, this, args)
    }
  }
}

watchNames(dns)
watchNames(dns.promises)
const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
  const [first] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args
  const { host = 'localhost', port, path } = first as { host?: string; port?: number; path?: string }
  // An agent, and a cell, are reached by a path.
  if (path === undefined || path === null) note('connect', `${host}:${port}`)
  return Reflect.apply(connect, this, args)
} as typeof connect
dgram.Socket.prototype.send = ((...args: unknown[]) => {
  note('datagram', args.slice(-3).join(' '))
}) as never
syncBuiltinESMExports()

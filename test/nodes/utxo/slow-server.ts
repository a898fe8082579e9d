import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ServerKind, serverKinds } from '../../../fake-server/electrum/kinds.ts'

/** A server that takes few requests in a batch, and notifies of a script before it answers for it. */
export const SMALL_BATCHES: ServerKind = { ...serverKinds.fulcrum, maxBatch: 10 }

/** A server in front of another. */
export interface SlowServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Holds every reply of an Electrum server back and sends it in two pieces, while notifications pass at once: a wallet hears of a
 * change before it hears what it asked about the time before.
 */
export const openSlowServer = async (port: number, delayMs: number): Promise<SlowServer> => {
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const target = connect(port, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        client.destroy()
        target.destroy()
      })
    }
    client.pipe(target)
    // One after another, or the pieces of two messages would lie in each other.
    let sending = Promise.resolve()
    const send = (line: string): void => {
      const bytes = Buffer.from(`${line}\n`)
      const half = bytes.length >> 1
      sending = sending.then(async () => {
        if (client.writable) client.write(bytes.subarray(0, half))
        await new Promise(resolve => setImmediate(resolve))
        if (client.writable) client.write(bytes.subarray(half))
      })
    }
    let replying = Promise.resolve()
    createInterface({ input: target }).on('line', line => {
      if (NOTIFICATION.test(line)) return send(line)
      const late = sleep(delayMs)
      replying = replying.then(async () => {
        await late
        send(line)
      })
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as { port: number }).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    }
  }
}

// A reply has no method.
const NOTIFICATION = /^\{[^[]*"method":/

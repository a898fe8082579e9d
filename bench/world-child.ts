import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DeviceServers } from './bench-device.ts'
import type { BenchChain, WorldContent, WorldReply, WorldRequest } from './world-messages.ts'

/** A fake world in another process, reached over loopback. */
export interface WorldChild {
  readonly servers: DeviceServers
  /** Pays each address once, in blocks, and tells the sum. */
  fund(addresses: readonly string[], chain?: BenchChain): Promise<string>
  close(): Promise<void>
}

/** Starts a fake world in a process of its own. @throws Error if it ends before it listens */
export const startWorldChild = async (content: WorldContent = {}): Promise<WorldChild> => {
  const script = fileURLToPath(new URL('world-process.js', import.meta.url))
  const child = fork(script, [JSON.stringify(content)], { execArgv: [] })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const next = (): Promise<WorldReply> =>
    new Promise((resolve, reject) => {
      const end = (): void => reject(new Error('The process of the fake world ended'))
      child.once('exit', end)
      child.once('message', message => {
        child.off('exit', end)
        resolve(message as WorldReply)
      })
    })
  const started = await next()
  if (!('servers' in started)) throw new Error('The fake world did not send its addresses')
  return {
    servers: started.servers,
    async fund(addresses, chain = 'bitcoin') {
      const answer = next()
      child.send({ fund: addresses, chain } satisfies WorldRequest)
      const reply = await answer
      if (!('total' in reply)) throw new Error('The fake world did not send the total that it paid')
      return reply.total
    },
    async close() {
      if (child.connected) child.disconnect()
      await ended
    }
  }
}

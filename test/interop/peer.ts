import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Device } from './device.ts'
import type { PeerCalls, PeerPlace, PeerReply, PeerRequest } from './peer-messages.ts'

/** A device that runs the published core. */
export type Peer = Device & PeerCalls

/**
 * Starts a device that runs the published core, in a process of its own.
 *
 * Calls reject with the name, message and plain fields of the published core's error.
 */
export const openPeer = async (place: PeerPlace): Promise<Peer> => {
  const script = fileURLToPath(new URL('peer-process.js', import.meta.url))
  const child = fork(script, [JSON.stringify(place)], {
    // Its dependencies are its own affair: our rule against generated code does not bind them.
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  const complaints: Buffer[] = []
  let count = 0
  const wait = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => void waiting.set(id, { resolve, reject }))

  const started = wait(0)
  const ended = new Promise<void>(resolve => {
    child.on('close', code => {
      const text = Buffer.concat(complaints).toString('utf8').slice(-2000)
      for (const { reject } of waiting.values()) reject(new Error(`The peer ended (${code}): ${text}`))
      waiting.clear()
      resolve()
    })
  })
  child.stderr?.on('data', (chunk: Buffer) => complaints.push(chunk))
  child.on('message', (message: unknown) => {
    const { id, result, error } = message as PeerReply
    const waiter = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) waiter?.resolve(result)
    else waiter?.reject(Object.assign(new Error(error.message), error))
  })
  await started

  const query =
    (call: keyof PeerCalls) =>
    (...args: unknown[]): Promise<unknown> => {
      count += 1
      const reply = wait(count)
      child.send({ id: count, call, args } satisfies PeerRequest)
      return reply
    }
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  const own: Pick<Device, 'folder' | 'failures' | 'stop'> = { folder: place.folder, failures: [], stop }
  return new Proxy(own as Peer, {
    get: (target, name) =>
      // A promise that resolves to this must not take it for a promise.
      name === 'then' || name in own ? Reflect.get(target, name) : query(name as keyof PeerCalls)
  })
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTour } from '../../cli/demo/tour.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Io } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { shapeOf } from './shape.ts'

/**
 * Records what the tour puts on the wire: each kind of request to login, sync, rate and swap servers with the shape of
 * its body and reply, and each method that a chain server is asked. How often and in which order depends on the time,
 * so each is listed once.
 *
 * @returns sorted lines
 */
export const tourTraffic = async (): Promise<string> => {
  const lines = new Set<string>()
  const base = makeNodeIo()
  const world = makeFakeWorld({ io: base })
  const ioFor = world.ioFor.bind(world)
  Object.assign(world, { ioFor: (io: Io) => recorded(ioFor(io), line => lines.add(line)) })
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-freeze-'))
  try {
    await runTour({
      world,
      io: base,
      folder,
      firstDevice: 'first',
      username: 'frozen',
      password: 'correct horse battery staple',
      signal: new AbortController().signal,
      onStep: () => {},
      pauseMs: 0
    })
  } finally {
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return `${[...lines].sort().join('\n')}\n`
}

const recorded = ({ connect, ...io }: Io, add: (line: string) => void): Io => ({
  ...io,
  async fetch(url, options = {}) {
    const { host, pathname } = new URL(url)
    const name = `${options.method ?? 'GET'} ${host} ${withoutIds(pathname)}`
    add(`${name} sends ${bodyShape(options.body)}`)
    const reply = await io.fetch(url, options)
    add(`${name} gets ${reply.status} ${bodyShape(reply.text)}`)
    return reply
  },
  async connect(address, handlers) {
    if (connect === undefined) throw new Error('The fake world has TCP')
    const channel = await connect(address, handlers)
    return {
      ...channel,
      send(text: string) {
        for (const line of text.split('\n')) {
          const [, method] = /"method":"([^"]+)"/.exec(line) ?? []
          if (method !== undefined) add(`chain server ${method}`)
        }
        return channel.send(text)
      },
      close: () => channel.close()
    }
  }
})

/** Ids, keys and hashes in a path are other ones in each run. */
const withoutIds = (path: string): string =>
  path
    .split('/')
    .map(part => (/^[0-9a-f]{16,}$/i.test(part) || /\d{3,}/.test(part) ? '<id>' : part))
    .join('/')
    // With or without the last hash, as the syncs fall.
    .replace(/^(.*\/store\/<id>)\/<id>$/, '$1')

const bodyShape = (text: unknown): string => {
  if (typeof text !== 'string' || text === '') return 'nothing'
  try {
    return shapeOf(JSON.parse(text))
  } catch {
    return 'text'
  }
}

import type { FakeReply, FakeRequest } from '../../fake-server/base/replies.ts'
import { FakeServer } from '../../fake-server/routes/fake-server.ts'
import { fakeFetch } from '../../fake-server/world/io.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import type { Io } from '../../kernel/io/io.ts'
import { openStashes, type Stashes } from '../../kernel/login/stashes.ts'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { PluginCalls } from '../../kernel/plugins/plugin-calls.ts'
import { PluginSet } from '../../kernel/plugins/plugin-set.ts'
import { type KernelConfig, makeInBackground, type Services } from '../../kernel/plugins/services.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { type FaultDisk, makeFaultDisk } from './fault-disk.ts'
import { quickCrypto } from './quick-crypto.ts'

/** A password cost that takes no time; only the username and password hashes are real. */
export const CHEAP: { readonly cost: { readonly n: number; readonly r: number; readonly p: number } } = {
  cost: { n: 16, r: 1, p: 1 }
}

/** JSON of many shapes, read and garbled by tests only. */
// biome-ignore lint/suspicious/noExplicitAny: tests know the shape, and a wrong one fails them
export type Untyped = any

/** A login server, and what it was asked. */
export interface LoginWorld {
  readonly server: FakeServer
  readonly clock: FakeClock
  /** `METHOD /path` and the parsed body of each request. */
  readonly requests: { readonly route: string; readonly body: Untyped }[]
  /** Changes the results of the next replies on a route, until it is undefined again. */
  garble: ((route: string, reply: Untyped) => unknown) | undefined
  /** Loses the reply of a route after the server has done what it was asked. */
  loseReplyOf: string | undefined
}

/** One device: a kernel's services without the kernel. */
export interface LoginDevice {
  readonly services: Services
  readonly disk: FaultDisk
  readonly files: Map<string, string>
  readonly stashes: Stashes
  readonly reports: unknown[]
  readonly logLines: string[]
  /** What the `loginChanged` hook told, as `method stage`. */
  readonly stages: string[]
}

/** Makes a login server with a clock that stands still. */
export const makeLoginWorld = (): LoginWorld => {
  const clock = makeFakeClock()
  const server = new FakeServer({ crypto: makeNodeIo().crypto, clock })
  const world: LoginWorld = { server, clock, requests: [], garble: undefined, loseReplyOf: undefined }
  server.use(async ({ method, path, body }: FakeRequest, next: () => Promise<FakeReply>) => {
    const route = `${method} ${path}`
    world.requests.push({ route, body: body === '' ? undefined : JSON.parse(body) })
    const reply = await next()
    if (world.loseReplyOf === route) throw new Error('The reply was lost')
    if (world.garble === undefined) return reply
    // Who means to lie about a login says first that there is news of it.
    if (path === '/api/v2/sync') return { ...reply, body: NEWS }
    const garbled = world.garble(route, JSON.parse(reply.body))
    return { ...reply, body: typeof garbled === 'string' ? garbled : JSON.stringify(garbled) }
  })
  return world
}

const NEWS = JSON.stringify({ status_code: 0, message: 'Success', results: false })

/** Opens a device over `files`, as a start of the kernel does. */
export const openDevice = async (
  world: LoginWorld,
  files: Map<string, string> = new Map(),
  options: {
    readonly config?: Partial<KernelConfig>
    readonly disk?: FaultDisk
    readonly io?: Partial<Io>
  } = {}
): Promise<LoginDevice> => {
  const { clock, server } = world
  const io: Io = { ...makeNodeIo(), crypto: quickCrypto, clock, fetch: fakeFetch(server), ...options.io }
  const disk: FaultDisk = options.disk ?? makeFaultDisk(files)
  const reports: unknown[] = []
  const logLines: string[] = []
  const stages: string[] = []
  const port = { clock, onFault: (fault: unknown) => void reports.push(fault) }
  const hooks = makeKernelHooks(port)
  hooks.loginChanged.tap('test', ({ method, stage, errorCode }) => {
    stages.push(`${method} ${stage}${errorCode === undefined ? '' : ` ${errorCode}`}`)
  })
  const report = (_: string, error: unknown): void => void reports.push(error)
  const write = (text: string): void => void logLines.push(text)
  const services: Services = {
    io,
    hooks,
    calls: new PluginCalls(port),
    disk: disk as Disk,
    config: {
      apiKey: '',
      appId: '',
      authServer: 'http://localhost/api',
      infoServers: [],
      syncServers: [],
      hideKeys: false,
      logLevel: 'warn',
      skipBlockHeight: false,
      ...options.config
    },
    plugins: new PluginSet(hooks),
    logOf: () => ({ debug: write, info: write, warn: write, error: write }),
    inBackground: makeInBackground(report),
    report
  }
  return { services, disk, files, stashes: await openStashes(services), reports, logLines, stages }
}

/** Lets the background work of a login come to its end. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 30; i += 1) await new Promise(resolve => setImmediate(resolve))
}

/** The rules of an account that has none. */
export const NO_RULES = { check: async (): Promise<void> => {} }

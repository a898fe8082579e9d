import {
  type AbortSignalLike,
  type Channel,
  compact,
  type Disk,
  type EngineLog,
  type FetchOptions,
  type FetchReply,
  type Io,
  makeAbort,
  type PluginId,
  type Reply,
  WalletError
} from '../kernel/plugin-api.ts'
import type { Cell } from './cell.ts'
import type { ContextFunctions } from './cell-call.ts'
import { bytesOf, errorJson, numberOf, textOf } from './protocol.ts'

/** The parts of a host that a contained plugin may use through its cell. */
export interface CellHostOptions {
  readonly log?: EngineLog
  readonly io?: Pick<Io, 'clock' | 'fetch'> & Partial<Pick<Io, 'connect' | 'webSocket'>>
  readonly disk?: Disk
  /** As the user has seen them. */
  readonly hosts: readonly string[]
}

/**
 * The functions that a cell calls in place of a host. Everything is bounded: lines of the log, requests at once, timers,
 * connections, and the servers that are reached.
 */
export const hostFunctions = (
  cell: Cell,
  { log, io, disk, hosts }: CellHostOptions
): Required<ContextFunctions> => {
  const reach = allowList(cell.pluginId, hosts)
  const timed = io === undefined ? undefined : timerNotes(cell, io)
  const fetched = io === undefined ? undefined : fetchFunctions(cell, io, reach)
  const channels = io === undefined ? undefined : channelFunctions(cell, io, reach)
  return {
    notes: { ...(log && logNotes(io, log)), ...timed, ...fetched?.notes, ...channels?.notes },
    requests: {
      ...fetched?.requests,
      ...channels?.requests,
      ...(disk && diskRequests(disk))
    }
  }
}

type Notes = NonNullable<ContextFunctions['notes']>
type Requests = NonNullable<ContextFunctions['requests']>
type Reach = (url: string) => void

/**
 * A function that throws NETWORK for a server which is not on the list.
 *
 * An entry is a host name, which stands for https and wss on the usual port, one with a port, or an origin with a scheme.
 */
export const allowList = (pluginId: PluginId, hosts: readonly string[]): Reach => {
  const allowed = new Set(hosts.flatMap(originsOf))
  return url => {
    const origin = URL.canParse(url) ? originOf(new URL(url)) : undefined
    if (origin !== undefined && allowed.has(origin)) return
    const server = origin ?? 'what is no address'
    throw new WalletError('NETWORK', {
      ...{ path: '', server: server.slice(0, 200) },
      reason: `the plugin ${pluginId} did not ask for this server when it was added`
    })
  }
}

const originsOf = (host: string): readonly string[] => {
  const written = host.includes('://') ? [host] : [`https://${host}`, `wss://${host}`]
  return written.filter(text => URL.canParse(text)).map(text => originOf(new URL(text)))
}

/** The scheme, host and port; undefined parts never match, and a user's name in an address is refused by the platform. */
const originOf = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${hostname.toLowerCase()}:${port === '' ? (PORTS[protocol] ?? '') : port}`

const PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'wss:': '443', 'http:': '80', 'ws:': '80' }

const logNotes = (io: CellHostOptions['io'], log: EngineLog): Notes => {
  let lines = 0
  let from = 0
  const line =
    (level: keyof EngineLog) =>
    (text: Reply): void => {
      const now = io?.clock.monotonic() ?? 0
      if (now - from > LOG_MS) {
        if (lines > MAX_LINES) log.warn(`${lines - MAX_LINES} lines of the cell were left out`)
        from = now
        lines = 0
      }
      lines += 1
      if (lines <= MAX_LINES) log[level](textOf(text, 1000))
    }
  return {
    'log.debug': line('debug'),
    'log.info': line('info'),
    'log.warn': line('warn'),
    'log.error': line('error')
  }
}

const timerNotes = (cell: Cell, { clock }: Pick<Io, 'clock'>): Notes => {
  const timers = new Map<number, () => void>()
  const clear = (): void => {
    for (const cancel of timers.values()) cancel()
    timers.clear()
  }
  cell.onRestart(clear)
  return {
    after(given, delay) {
      const id = numberOf(given)
      if (timers.size >= MAX_TIMERS) throw new Error(`more than ${MAX_TIMERS} timers wait`)
      const { life } = cell
      const fire = (): void => {
        timers.delete(id)
        if (!life.aborted) cell.emit({ type: 'timer', id })
      }
      timers.set(id, clock.after(Number(delay.value) || 0, fire))
    },
    cancel(given) {
      const id = numberOf(given)
      timers.get(id)?.()
      timers.delete(id)
    }
  }
}

const fetchFunctions = (
  cell: Cell,
  io: Pick<Io, 'clock' | 'fetch'>,
  reach: Reach
): { readonly notes: Notes; readonly requests: Requests } => {
  const aborts = new Map<number, () => void>()
  let count = 0
  const fetch = async (number: Reply, url: Reply, options: Reply): Promise<FetchReply> => {
    const id = numberOf(number)
    const address = textOf(url, 8192)
    reach(address)
    if (count >= MAX_FETCHES) throw new Error(`${MAX_FETCHES} requests are already waiting`)
    const { signal, abort } = makeAbort()
    const { life } = cell
    const cancel = io.clock.after(FETCH_MS, abort)
    aborts.set(id, abort)
    life.addEventListener('abort', abort)
    count += 1
    try {
      const { status, headers, text, bytes } = await io.fetch(address, fetchOptions(options, signal))
      return { status, headers: { ...headers }, text, ...compact({ bytes }) }
    } finally {
      count -= 1
      cancel()
      aborts.delete(id)
      life.removeEventListener('abort', abort)
    }
  }
  return { requests: { fetch }, notes: { abort: id => aborts.get(numberOf(id))?.() } }
}

const fetchOptions = (options: Reply, signal: AbortSignalLike): FetchOptions => {
  const method = options.field('method')
  const body = options.field('body')
  const bytes = options.field('bodyBytes')
  const isBytes = options.field('replyAs').value === 'bytes'
  // Bytes are written with two letters each.
  const limit = isBytes ? MAX_REPLY / 2 : MAX_REPLY
  const most = options.field('maxReplyBytes')
  const headers: Record<string, string> = {}
  if (options.field('headers').isThere)
    for (const [name, value] of options.field('headers').entries(50)) {
      // Another name than that of the address could reach another server behind the same front.
      if (/^(?:host|connection|transfer-encoding|content-length|upgrade|proxy-.*)$/i.test(name))
        value.fail('is a header that a plugin does not set')
      headers[name] = textOf(value, 8192)
    }
  return {
    ...compact({
      method: method.isThere ? textOf(method, 20) : undefined,
      body: body.isThere ? textOf(body, 1_000_000) : undefined,
      bodyBytes: bytes.isThere ? bytesOf(bytes, 1_000_000) : undefined,
      replyAs: isBytes ? ('bytes' as const) : undefined
    }),
    headers,
    maxReplyBytes: most.isThere ? Math.min(numberOf(most), limit) : limit,
    signal
  }
}

const channelFunctions = (
  cell: Cell,
  { connect, webSocket }: Partial<Pick<Io, 'connect' | 'webSocket'>>,
  reach: Reach
): { readonly notes: Notes; readonly requests: Requests } => {
  const channels = new Map<number, Channel>()
  let opening = 0
  const open = async (
    id: number,
    start: (handlers: { onText(text: string): void; onClose(error?: Error): void }) => Promise<Channel>
  ): Promise<null> => {
    if (channels.size + opening >= MAX_CHANNELS)
      throw new Error(`${MAX_CHANNELS} connections are already open`)
    const { life } = cell
    opening += 1
    let channel: Channel | undefined
    const end = (): void => channel?.close()
    try {
      channel = await start({
        onText: text => {
          if (!life.aborted) cell.emit({ type: 'channel', id, text })
        },
        onClose: error => {
          channels.delete(id)
          life.removeEventListener('abort', end)
          const shown = error === undefined ? null : errorJson(error)
          if (!life.aborted) cell.emit({ type: 'channel', id, text: null, error: shown })
        }
      })
      channels.set(id, channel)
      if (life.aborted) end()
      else life.addEventListener('abort', end)
    } finally {
      opening -= 1
    }
    return null
  }
  cell.onRestart(() => channels.clear())
  return {
    notes: {
      'channel.send': (id, text) => channels.get(numberOf(id))?.send(textOf(text, 1_000_000)),
      'channel.close': id => channels.get(numberOf(id))?.close()
    },
    requests: compact({
      connect:
        connect &&
        (async (id: Reply, to: Reply) => {
          const [host, port, isTls] = [
            to.field('host').text(),
            numberOf(to.field('port')),
            to.field('isTls').isTrue()
          ]
          if (!/^[a-z0-9.:-]+$/i.test(host)) to.fail('has no host')
          reach(`${isTls ? 'tls' : 'tcp'}://${host.includes(':') ? `[${host}]` : host}:${port}`)
          return open(numberOf(id), handlers => connect({ host, port, isTls }, handlers))
        }),
      webSocket:
        webSocket &&
        (async (id: Reply, url: Reply) => {
          const address = textOf(url, 8192)
          reach(address)
          return open(numberOf(id), handlers => webSocket(address, handlers))
        })
    }) as Requests
  }
}

const diskRequests = (disk: Disk): Requests => ({
  'disk.getText': async path => (await disk.getText(path.text())) ?? null,
  'disk.setText': (path, text) => disk.setText(path.text(), textOf(text, MAX_REPLY)),
  'disk.delete': path => disk.delete(path.text()),
  'disk.list': folder => disk.list(textOf(folder, 1000))
})

const LOG_MS = 10_000
const MAX_LINES = 100
const MAX_TIMERS = 1000
const MAX_FETCHES = 32
const FETCH_MS = 60_000
const MAX_REPLY = 3_000_000
const MAX_CHANNELS = 16

import {
  type AbortSignalLike,
  type Channel,
  type ChannelHandlers,
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
import { limitLines } from './cell-functions.ts'
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
    notes: { ...(log && logNotes(cell, log)), ...timed, ...fetched?.notes, ...channels?.notes },
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

/** The log of a host or of an engine, with a bound on its lines and their length. */
export const logNotes = (cell: Pick<Cell, 'clock'>, log: EngineLog): Notes => {
  const line = limitLines(() => cell.clock, log)
  const write = (level: keyof EngineLog): Notes[string] => {
    const writeLine = line(level)
    return text => writeLine(textOf(text, 1000))
  }
  return {
    'log.debug': write('debug'),
    'log.info': write('info'),
    'log.warn': write('warn'),
    'log.error': write('error')
  }
}

/**
 * What a host keeps for a cell by the number that the cell has given it, such as its timers. The host counts what it keeps
 * itself: a number in use is refused, and with the life of the cell everything of it ends.
 */
class Kept<T> {
  readonly #cell: Cell
  readonly #what: string
  readonly #most: number
  readonly #end: (value: T) => void
  #life: AbortSignalLike | undefined
  #byNumber = new Map<number, T>()
  #count = 0

  /** @param end - ends one when the life of the cell does */
  constructor(cell: Cell, { what, most, end }: { what: string; most: number; end(value: T): void }) {
    this.#cell = cell
    this.#what = what
    this.#most = most
    this.#end = end
  }

  get(id: number): T | undefined {
    return this.#cell.life === this.#life ? this.#byNumber.get(id) : undefined
  }

  /** Keeps one. @returns what lets go of it @throws for a number in use, and for too many */
  keep(id: number, value: T): () => void {
    if (this.#count >= this.#most) throw new Error(`${this.#most} ${this.#what} are already there`)
    const { life } = this.#cell
    if (life !== this.#life) {
      const byNumber = new Map<number, T>()
      this.#life = life
      this.#byNumber = byNumber
      life.addEventListener('abort', () => {
        for (const kept of byNumber.values()) this.#end(kept)
      })
    }
    const byNumber = this.#byNumber
    if (byNumber.has(id)) throw new Error(`the number ${id} of ${this.#what} is in use`)
    byNumber.set(id, value)
    this.#count += 1
    return () => {
      if (byNumber.delete(id)) this.#count -= 1
    }
  }
}

const timerNotes = (cell: Cell, { clock }: Pick<Io, 'clock'>): Notes => {
  const timers = new Kept<{ cancel(): void }>(cell, {
    ...{ what: 'timers', most: MAX_TIMERS },
    end: timer => timer.cancel()
  })
  return {
    after(given, delay) {
      const id = numberOf(given)
      const { life } = cell
      const timer = { cancel: () => {} }
      const release = timers.keep(id, timer)
      const cancel = clock.after(Number(delay.value) || 0, () => {
        release()
        if (!life.aborted) cell.emit({ type: 'timer', id })
      })
      timer.cancel = () => {
        cancel()
        release()
      }
    },
    cancel: id => timers.get(numberOf(id))?.cancel()
  }
}

const fetchFunctions = (
  cell: Cell,
  io: Pick<Io, 'clock' | 'fetch'>,
  reach: Reach
): { readonly notes: Notes; readonly requests: Requests } => {
  const requests = new Kept<() => void>(cell, {
    ...{ what: 'requests', most: MAX_FETCHES },
    end: abort => abort()
  })
  const fetch = async (number: Reply, url: Reply, options: Reply): Promise<FetchReply> => {
    const address = textOf(url, 8192)
    reach(address)
    const { signal, abort } = makeAbort()
    const release = requests.keep(numberOf(number), abort)
    const cancel = io.clock.after(FETCH_MS, abort)
    try {
      const { status, headers, text, bytes } = await io.fetch(address, fetchOptions(options, signal))
      return { status, headers: { ...headers }, text, ...compact({ bytes }) }
    } finally {
      cancel()
      release()
    }
  }
  return { requests: { fetch }, notes: { abort: id => requests.get(numberOf(id))?.() } }
}

const fetchOptions = (options: Reply, signal: AbortSignalLike): FetchOptions => {
  const method = options.field('method')
  const body = options.field('body')
  const bytes = options.field('bodyBytes')
  const isBytes = options.field('replyAs').value === 'bytes'
  // Bytes are written with two letters each.
  const limit = isBytes ? MAX_REPLY / 2 : MAX_REPLY
  const most = options.field('maxReplyBytes')
  const { value: isRepeatable } = options.field('isRepeatable')
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
      replyAs: isBytes ? ('bytes' as const) : undefined,
      isRepeatable: typeof isRepeatable === 'boolean' ? isRepeatable : undefined
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
  const channels = new Kept<Partial<Channel>>(cell, {
    ...{ what: 'connections', most: MAX_CHANNELS },
    end: channel => channel.close?.()
  })
  const open = async (
    id: number,
    start: (handlers: ChannelHandlers, options: { readonly signal: AbortSignalLike }) => Promise<Channel>
  ): Promise<null> => {
    const { life } = cell
    const { signal, abort } = makeAbort()
    // It can send once it is open.
    const kept: { send?(text: string): void; close(): void } = { close: abort }
    const release = channels.keep(id, kept)
    try {
      const handlers: ChannelHandlers = {
        onText: text => {
          if (!life.aborted) cell.emit({ type: 'channel', id, text })
        },
        onClose: error => {
          release()
          const shown = error === undefined ? null : errorJson(error)
          if (!life.aborted) cell.emit({ type: 'channel', id, text: null, error: shown })
        }
      }
      const channel = await start(handlers, { signal })
      kept.send = text => channel.send(text)
      kept.close = () => channel.close()
      if (life.aborted || signal.aborted) channel.close()
    } catch (error) {
      release()
      throw error
    }
    return null
  }
  return {
    notes: {
      'channel.send': (id, text) => channels.get(numberOf(id))?.send?.(textOf(text, 1_000_000)),
      'channel.close': id => channels.get(numberOf(id))?.close?.()
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
          return open(numberOf(id), (...args) => connect({ host, port, isTls }, ...args))
        }),
      webSocket:
        webSocket &&
        (async (id: Reply, url: Reply) => {
          const address = textOf(url, 8192)
          reach(address)
          return open(numberOf(id), (...args) => webSocket(address, ...args))
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

const MAX_TIMERS = 1000
const MAX_FETCHES = 32
const FETCH_MS = 60_000
const MAX_REPLY = 3_000_000
const MAX_CHANNELS = 16

/// <reference lib="dom" />
// Runs in a browser: contained plugins, applied as a kernel would, and secrets of the page that they shall not find.
import type { CellFrame } from '../../../cells/browser/host-frame.ts'
import { openPageCells } from '../../../cells/browser/open-page-cells.ts'
import type { CellSet } from '../../../cells/make-cells.ts'
import type { CellFault, CellGrants } from '../../../cells/platform.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { EngineLog, Io, JsonObject } from '../../../kernel/plugin-api.ts'
import { quotaDisk } from '../../../kernel/plugins/quota-disk.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'

/** How a call of a contained rate plugin ended. */
export interface CallEnd {
  /** As `Hostile.outcome` has them. */
  readonly end: 'answers' | 'ends' | 'refused' | 'throws' | 'waits'
  readonly message: string
  readonly prices: readonly unknown[]
}

/** What the page offers, as `globalThis.cellsPage`. */
export interface CellsPage {
  open(frame: CellFrame, busyMs: number): void
  close(): void
  /** Loads a rate plugin and calls it. */
  run(code: string, asks?: LoadOptions): Promise<CallEnd>
  /** Calls a plugin that `run` loaded. */
  call(id: string): Promise<CallEnd>
  /** Loads a currency plugin, and gives what its `builtinTokens` answers. */
  tokens(code: string): Promise<unknown>
  readonly faults: readonly CellFault[]
  /** Lines of the log, prices, and addresses that were requested. */
  readonly seen: readonly string[]
}

/** What a plugin asks for; a rate plugin of the id `bad` if it is left out. */
export type LoadOptions = Partial<CellGrants> & { readonly id?: string }

type Tap = (argument: unknown) => Promise<unknown>

let cells: CellSet | undefined
const taps = new Map<string, ReadonlyMap<string, Tap>>()
const faults: CellFault[] = []
const seen: string[] = []
const line = (text: string): void => void seen.push(text)
const log: EngineLog = { debug: line, info: line, warn: line, error: line }

const hostOf = (hooks: object, options: JsonObject): object => {
  const io = makeBrowserIo({ proxies: [] })
  const fetch: Io['fetch'] = (url, given) => {
    seen.push(url, given?.body ?? '')
    return io.fetch(url, given)
  }
  const disk = quotaDisk(memoryDisk(), { pluginId: 'bad', maxCharacters: 5_000_000, onRefused() {} })
  return { hooks, io: { ...io, fetch }, clock: io.clock, disk, log, options }
}

const endOf = (error: unknown, isLoaded: boolean): CallEnd['end'] => {
  if (!isLoaded) return 'refused'
  if (isWalletError(error, 'PLUGIN_FAILED')) return 'ends'
  return error instanceof Error && error.message === 'LATE' ? 'waits' : 'throws'
}

const failed = (error: unknown, isLoaded: boolean): CallEnd => ({
  end: endOf(error, isLoaded),
  message: error instanceof Error ? error.message.slice(0, 200) : '',
  prices: []
})

/** Loads a plugin and applies it as a kernel would. */
const load = async (
  code: string,
  { id = 'bad', kind = 'rates', hosts = [], keys = false }: LoadOptions
): Promise<void> => {
  const mine = new Map<string, Tap>()
  const bytes = await crypto.subtle.digest('SHA-512', new TextEncoder().encode(code))
  const sha512 = [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')
  const plugin = await cells?.plugin({ id, code, sha512, asks: { kind, hosts, keys } })
  const hooks = new Proxy(
    {},
    {
      get: (_, name) => {
        const tap = (_id: string, fn: Tap): void => void mine.set(String(name), fn)
        return { tap, tapPromise: tap }
      }
    }
  )
  plugin?.apply(hostOf(hooks, {}) as never)
  taps.set(id, mine)
}

const cellsPage: CellsPage = {
  open(frame, busyMs) {
    cells = openPageCells({ frame, log, busyMs, onFault: fault => void faults.push(fault) })
  },
  close() {
    cells?.close()
    for (const list of [faults, seen]) list.length = 0
  },
  async run(code, asks = {}) {
    try {
      await load(code, asks)
    } catch (error) {
      return failed(error, false)
    }
    return cellsPage.call(asks.id ?? 'bad')
  },
  async tokens(code) {
    await load(code, { id: 'coin', kind: 'currency', keys: true })
    return taps.get('coin')?.get('builtinTokens')?.(undefined)
  },
  async call(id) {
    const prices: unknown[] = []
    const offer = (pair: unknown, rate: unknown): void => {
      prices.push(rate)
      seen.push(JSON.stringify([pair, rate]))
    }
    const wanted = [{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }]
    const signal = { aborted: false, addEventListener() {}, removeEventListener() {} }
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('LATE')), 20_000))
    try {
      await Promise.race([taps.get(id)?.get('fetchRates')?.({ wanted, offer, signal }), late])
      return { end: 'answers', message: '', prices }
    } catch (error) {
      return failed(error, true)
    }
  },
  faults,
  seen
}

Object.assign(globalThis, { cellsPage })

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { type Cells, type CellsOptions, openCells } from '../../cells/node/open-cells.ts'
import type { CellFault, CellGrants } from '../../cells/platform.ts'
import type { Disk, EngineLog, Io, JsonObject, Plugin } from '../../kernel/index.ts'
import { quotaDisk } from '../../kernel/plugins/quota-disk.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'

/** A place for contained plugins whose log and faults a test reads. */
export interface CellStage {
  readonly cells: Cells
  readonly faults: readonly CellFault[]
  /** Everything that came out of the cells: lines of the log, offers, addresses that were requested. */
  readonly seen: string[]
  readonly log: EngineLog
  load(
    code: string,
    grants?: Partial<CellGrants> & { readonly id?: string; readonly options?: JsonObject }
  ): Promise<Plugin>
}

/** The digest by which a bundle is pinned. */
export const pinOf = (code: string): string => createHash('sha512').update(code).digest('hex')

export const openCellStage = (limits: CellsOptions['limits'] = {}): CellStage => {
  const seen: string[] = []
  const faults: CellFault[] = []
  const line = (text: string): void => void seen.push(text)
  const log: EngineLog = { debug: line, info: line, warn: line, error: line }
  const cells = openCells({ log, limits, onFault: fault => void faults.push(fault) })
  return {
    ...{ cells, faults, seen, log },
    load: (code, { id = 'bad', options = {}, kind = 'rates', hosts = [], keys = kind === 'currency' } = {}) =>
      cells.plugin({ id, code, sha512: pinOf(code), asks: { kind, hosts, keys }, options })
  }
}

/** The text of a rate plugin: `apply` runs with the host in scope, `call` with the context too. */
export const rateCode = (call: string, apply = '', id = 'bad'): string => `(() => {
definePlugin({ kind: 'rates', id: '${id}', displayName: 'Bad', apply(host) {
  const { hooks, io, disk, log, options } = host;
  ${apply}
  hooks.fetchRates.tapPromise('${id}', async context => {
    const { wanted, offer, signal } = context;
    ${call}
  })
} })
})()`

/** An honest one, which answers with one price. */
export const HONEST: string = rateCode('offer(wanted[0], 64000)', '', 'honest')

type Tap = (argument: unknown) => Promise<unknown>

/** Applies a plugin as a kernel would, to a host of its own; the taps come back by the names of their hooks. */
export const applied = (
  stage: CellStage,
  plugin: Plugin,
  {
    io = makeNodeIo(),
    disk = quotaDisk(memoryDisk(), { pluginId: 'bad', maxCharacters: 5_000_000, onRefused() {} }),
    options = {}
  }: { io?: Io; disk?: Disk; options?: JsonObject } = {}
): ReadonlyMap<string, Tap> => {
  const taps = new Map<string, Tap>()
  const hooks = new Proxy(
    {},
    {
      get: (_, name) => {
        const tap = (_id: string, fn: Tap): void => void taps.set(String(name), fn)
        return { tap, tapPromise: tap }
      }
    }
  )
  const seenFetch: Io['fetch'] = (url, given) => {
    stage.seen.push(url, given?.body ?? '')
    return io.fetch(url, given)
  }
  const host = { hooks, io: { ...io, fetch: seenFetch }, clock: io.clock, disk, log: stage.log, options }
  plugin.apply(host as never)
  return taps
}

/** Calls `fetchRates` and gives the prices that were offered. */
export const pricesOf = async (
  stage: CellStage,
  taps: ReadonlyMap<string, Tap>,
  signal: object = { aborted: false, addEventListener() {}, removeEventListener() {} }
): Promise<readonly unknown[]> => {
  const prices: unknown[] = []
  const offer = (pair: unknown, rate: unknown): void => {
    prices.push(rate)
    stage.seen.push(JSON.stringify([pair, rate]))
  }
  await taps.get('fetchRates')?.({ wanted: [{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }], offer, signal })
  return prices
}

/** One script of the source of a plugin, bundled as `plugins add` does: what it imports of `holdfast/plugin` is inside. */
export const bundled = async (
  source: string,
  { minify = false }: { readonly minify?: boolean } = {}
): Promise<string> => {
  const entry = 'holdfast-plugin-source.ts'
  const bundle = await rolldown({
    input: entry,
    platform: 'neutral',
    // As the package asks of bundlers.
    resolve: { mainFields: ['module', 'main'] },
    treeshake: { moduleSideEffects: false },
    logLevel: 'silent',
    plugins: [
      {
        name: 'source',
        resolveId: id =>
          id === entry ? entry : /^holdfast\/(plugin|observer)$/.test(id) ? API(id) : undefined,
        load: id => (id === entry ? source : undefined)
      }
    ]
  })
  const { output } = await bundle.generate({
    format: 'iife',
    name: '__plugin',
    exports: 'named',
    codeSplitting: false,
    minify
  })
  await bundle.close()
  if (output[0].imports.length > 0) throw new Error(`It imports ${output[0].imports}`)
  return output[0].code
}

const API = (id: string): string => join(process.cwd(), `kernel/${id.replace('holdfast/', '')}-api.ts`)

import { readFileSync, writeSync } from 'node:fs'
import { importPlugin } from '../../cli/plugins/load-plugins.ts'
import { createKernel, type Io, type Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'

/** The last line of a process that runs a plugin without a cell, if it lives so long. */
export interface UncontainedReport {
  /** The reason why the plugin was not loaded. */
  readonly refused?: string
  /** Each thing that was said about the plugin. */
  readonly said: readonly string[]
  /** False if the kernel or the plugin beside it does not do what it did. */
  readonly isWhole: boolean
}

const PAIR = { fromCurrency: 'HON', toCurrency: 'iso:USD' }

// Kept, since the plugin may replace them.
const { stringify } = JSON
const exit = process.exit.bind(process)
const print = (text: string): number => writeSync(1, text)

/** A neighbour in the process. */
const honest: Plugin = {
  kind: 'rates',
  id: 'honest',
  displayName: 'Honest',
  apply: ({ hooks }) =>
    hooks.fetchRates.tapPromise('honest', async ({ offer }) => {
      offer(PAIR, 64_000)
      offer({ ...PAIR, fromCurrency: 'BTC' }, 64_000)
    })
}

/** Node's, which reaches nothing but this machine. */
const localIo = (): Io => {
  const io = makeNodeIo()
  const fetch: Io['fetch'] = async (url, options) => {
    if (!['127.0.0.1', 'localhost'].includes(new URL(url).hostname)) throw new Error('No such server')
    return io.fetch(url, options)
  }
  return { ...io, fetch }
}

const run = async (path: string): Promise<UncontainedReport> => {
  const said: string[] = []
  const say = (_source: string, error: unknown): void => void said.push(String(error).slice(0, 300))
  // As the command line loads one that was added with --no-cell.
  const bad = await importPlugin({ code: readFileSync(path, 'utf8'), path }).catch((error: unknown) => error)
  if (bad instanceof Error) return { refused: bad.message.slice(0, 300), said, isWhole: true }
  const kernel = await createKernel({
    ...{ io: localIo(), apiKey: '', onError: say },
    plugins: [memoryStorage(), honest, bad as Plugin]
  })
  const { rates, plugins } = kernel.context
  rates.want([PAIR])
  await rates.refresh()
  for (const { message } of rates.getSnapshot().providers) if (message !== undefined) say('', message)
  // The work that the plugin has left behind gets its turn, and may end the process.
  await new Promise(resolve => setTimeout(resolve, 100))
  await rates.refresh()
  const failed = plugins.find(({ pluginId, state }) => pluginId !== 'honest' && state === 'failed')
  const isWhole =
    rates.convertCurrency('HON', 'iso:USD') === 64_000 &&
    !('polluted' in {}) &&
    stringify({ a: [1].map(x => x) }) === '{"a":[1]}' &&
    stringify === JSON.stringify
  return { ...(failed === undefined ? {} : { refused: failed.message ?? '' }), said, isWhole }
}

setInterval(() => print('.'), 200)
print('.')
const report = await run(process.argv[2] ?? '')
print(`\n${stringify(report)}\n`)
exit(0)

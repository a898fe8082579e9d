import { createKernel, type RatePlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { race } from '../race.ts'
import { atMost, check, type Row, rowOf } from '../section.ts'
import { pause } from '../wait.ts'
import { type MarketShape, tenProviders } from './shapes.ts'

/** Our rates in a market of their own, through the interface that applications have. */
export interface OwnRates {
  convert(from: string, to: string): number
  /** Asks every provider anew, and lets what follows from it come to an end: the next conversion is a new search. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Opens a kernel whose rate plugins offer the pairs of a shape, a plugin for each provider. */
export const openOwnRates = async (shape: MarketShape): Promise<OwnRates> => {
  const plugins = shape.pairs.map(
    (own, at): RatePlugin => ({
      kind: 'rates',
      id: `provider${at}`,
      displayName: `Provider ${at}`,
      apply({ hooks }) {
        hooks.fetchRates.tapPromise('provider', async context => {
          for (const { rate, ...pair } of own) context.offer(pair, rate)
        })
      }
    })
  )
  const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', plugins: [memoryStorage(), ...plugins] })
  const { rates } = kernel.context
  const count = shape.pairs.reduce((sum, pairs) => sum + pairs.length, 0)
  const refresh = async (): Promise<void> => {
    await rates.refresh()
    check(rates.getSnapshot().pairCount === count, `the pairs of ${shape.name}`)
    await pause(SETTLE_MS)
  }
  await refresh()
  return { convert: (from, to) => rates.convertCurrency(from, to), refresh, close: () => kernel.close() }
}

const PAIRS = 480
const PROVIDERS = 10
const LIMIT_MS = 10
/** The pairs are written to the storage in the background. */
const SETTLE_MS = 50

/** One refresh of a kernel: every provider is asked, and what comes is published. */
export const refreshRow = async (): Promise<Row> => {
  const own = await openOwnRates(tenProviders(PAIRS * PROVIDERS))
  const contender = { name: 'refresh', run: own.refresh }
  const cost = (await race([contender], { rounds: 11, warmUp: 3 })).cost('refresh')
  await own.close()
  const goals = [atMost(`at most ${LIMIT_MS} ms`, cost.cpuMs, LIMIT_MS)]
  return rowOf(`a refresh of ${PAIRS} pairs from each of ${PROVIDERS} providers`, cost, { goals })
}

import { createKernel, type RatePlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { race } from '../race.ts'
import { atMost, check, type Row, rowOf } from '../section.ts'
import { tenProviders } from './shapes.ts'

const PAIRS = 480
const PROVIDERS = 10
const LIMIT_MS = 10

/** One refresh of a kernel: every provider is asked, and what comes is published. */
export const refreshRow = async (): Promise<Row> => {
  const { pairs } = tenProviders(PAIRS * PROVIDERS)
  const plugins = pairs.map(
    (own, at): RatePlugin => ({
      kind: 'rates',
      id: `provider${at}`,
      displayName: `Provider ${at}`,
      apply({ hooks }) {
        hooks.fetchRates.tapPromise('provider', async desk => {
          for (const { rate, ...pair } of own) desk.offer(pair, rate)
        })
      }
    })
  )
  const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', plugins: [memoryStorage(), ...plugins] })
  const { rates } = kernel.context
  const contender = {
    name: 'refresh',
    run: () => rates.refresh(),
    after: () => check(rates.getSnapshot().pairCount === PAIRS * PROVIDERS, 'the pairs of a refresh')
  }
  const cost = (await race([contender], { rounds: 11, warmUp: 3 })).cost('refresh')
  await kernel.close()
  const goals = [atMost(`at most ${LIMIT_MS} ms`, cost.cpuMs, LIMIT_MS)]
  return rowOf(`a refresh of ${PAIRS} pairs from each of ${PROVIDERS} providers`, cost, { goals })
}

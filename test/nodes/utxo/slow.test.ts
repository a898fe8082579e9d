import test from 'ava'
import { drawPart } from '../../helpers/drawn-runs.ts'
import {
  followsReorganisations,
  forgetsIncoming,
  restartsAfterReorganisation,
  restartsOffline,
  seesWaiting,
  sendsAgain,
  sendsAgainFromDeep,
  waitsForCoinbase
} from './chain-stories.ts'
import { bitcoinCashLab, bitcoinLab, litecoinLab, replacingLab } from './lab-nodes.ts'
import type { NodeLabOptions } from './node-lab.ts'
import { STORIES } from './npm-stories.ts'
import {
  cannotPayTwice,
  carriesMemos,
  followsRival,
  freezesCoins,
  hastens,
  paysMany,
  receivesAndPays,
  replacesOrCancels,
  sweeps
} from './payment-stories.ts'
import { runStory, type Story } from './story-steps.ts'

// The stories once more with a second on every reply. Most of that is waiting, and a real node has no clock of ours: the stories run
// beside each other, and without `--full` a drawn part of them. Those by Esplora take minutes each, since a wallet asks for one
// address after another, so that they run with `--full` only, and so do the reorganisations by RPC, which take five.
// A thousand addresses are left to the benchmark `scan`: their signature beside five other stories is slower than a wallet waits for.
const DELAY_MS = 1000
const PART = 10
const isFull = process.env.HOLDFAST_FULL === '1'

const BACKENDS = ['electrum', 'rpc', 'esplora'] as const
const stories: readonly (readonly [Story, NodeLabOptions])[] = [
  ...[litecoinLab, bitcoinLab, bitcoinCashLab].flatMap(coin => [
    ...STORIES.map(story => [story, { coin }] as const),
    ...BACKENDS.filter(
      backend => backend === 'electrum' || (backend === 'rpc' ? coin === litecoinLab : isFull)
    ).flatMap(backend =>
      [receivesAndPays, ...(backend === 'rpc' && !isFull ? [] : [followsReorganisations])].map(
        story => [story, { coin, backend }] as const
      )
    )
  ]),
  ...(['electrum', 'rpc'] as const).flatMap(backend => [
    ...[seesWaiting, freezesCoins, sendsAgainFromDeep, restartsAfterReorganisation].map(
      story => [story, { backend }] as const
    ),
    [replacesOrCancels, { coin: replacingLab, backend }] as const
  ]),
  ...[
    ...[followsRival, sendsAgain, forgetsIncoming, paysMany, cannotPayTwice, carriesMemos],
    ...[sweeps, hastens, waitsForCoinbase, restartsOffline]
  ].map(story => [story, { backend: 'rpc' }] as const)
]
const seeds: string[] = []
const log = Object.assign((...lines: unknown[]) => void seeds.push(lines.join(' ')), { skip() {} })
const drawn = drawPart({ log }, stories, PART)

/** Logs with each test how to draw it again. */
const withSeed: Parameters<typeof runStory>[0] = (title, run) =>
  test(title, t => {
    t.log(...seeds)
    return run(t)
  })

for (const [story, options] of drawn) runStory(withSeed, story, { ...options, delayMs: DELAY_MS })

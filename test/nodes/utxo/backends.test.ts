import test from 'ava'
import { drawPart } from '../../helpers/drawn-runs.ts'
import {
  findsThousand,
  forgetsIncoming,
  restartsAfterReorganisation,
  restartsOffline,
  seesWaiting,
  sendsAgain,
  sendsAgainFromDeep,
  waitsForCoinbase
} from './chain-stories.ts'
import { bitcoinCashLab, bitcoinLab, replacingLab } from './lab-nodes.ts'
import type { NodeLabOptions } from './node-lab.ts'
import { STORIES } from './npm-stories.ts'
import {
  cannotPayTwice,
  carriesMemos,
  followsRival,
  freezesCoins,
  hastens,
  paysMany,
  replacesOrCancels,
  sweeps
} from './payment-stories.ts'
import { runStory, type Story } from './story-steps.ts'

// The stories by the ways to ask that the other files leave out. Without `--full` a drawn part of them: what they show of payments is
// shown there, and what each way of asking adds is in few places.
const PART = 6

const stories: readonly (readonly [Story, NodeLabOptions])[] = [
  ...[carriesMemos, restartsAfterReorganisation].map(story => [story, { backend: 'electrum' }] as const),
  ...[paysMany, cannotPayTwice, waitsForCoinbase, freezesCoins, hastens, findsThousand, carriesMemos].map(
    story => [story, { backend: 'rpc' }] as const
  ),
  ...[
    ...[paysMany, cannotPayTwice, waitsForCoinbase, freezesCoins, hastens, findsThousand, carriesMemos],
    ...[sweeps, followsRival, sendsAgain, sendsAgainFromDeep, forgetsIncoming, seesWaiting],
    ...[restartsOffline, restartsAfterReorganisation]
  ].map(story => [story, { backend: 'esplora' }] as const),
  ...(['rpc', 'esplora'] as const).map(
    backend => [replacesOrCancels, { coin: replacingLab, backend }] as const
  ),
  ...[bitcoinLab, bitcoinCashLab].flatMap(coin =>
    STORIES.map(story => [story, { coin, backend: 'esplora' }] as const)
  )
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

for (const [story, options] of drawn) runStory(withSeed, story, options)

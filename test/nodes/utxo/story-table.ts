import type { ExecutionContext } from 'ava'
import { compact } from '../../../kernel/index.ts'
import { drawPart } from '../../helpers/drawn-runs.ts'
import {
  findsThousand,
  followsReorganisations,
  forgetsIncoming,
  restartsAfterReorganisation,
  restartsOffline,
  seesWaiting,
  sendsAgain,
  sendsAgainFromDeep,
  waitsForCoinbase
} from './chain-stories.ts'
import {
  bitcoinCashLab,
  bitcoinLab,
  type KeyFormat,
  type LabCoin,
  litecoinLab,
  replacingLab
} from './lab-nodes.ts'
import { type Backend, type NodeLabOptions, withNode } from './node-lab.ts'
import {
  cannotPayTwice,
  carriesMemos,
  followsRival,
  freezesCoins,
  hastens,
  paysMany,
  receivesAndPays,
  refusesForeign,
  replacesOrCancels,
  signsMessages,
  sweeps
} from './payment-stories.ts'
import type { Story } from './story-steps.ts'

/** A story on the node of a coin, by one way to ask. */
export interface StoryRun {
  readonly story: Story
  readonly coin: LabCoin
  readonly backend: Backend
  /** That of most wallets of the coin if left out. */
  readonly format?: KeyFormat
  /** Each run tells it; the others are told in a drawn part of the runs. */
  readonly isAlways: boolean
  /** With late replies it takes minutes. */
  readonly isLongLate: boolean
}

/** Where a story is told. Each way to ask its nodes tells it in a drawn part of the runs at least, on time and late. */
interface StoryRow {
  readonly story: Story
  /** Those whose nodes can judge it. */
  readonly coins: readonly LabCoin[]
  /** By these each run tells it on Litecoin's node. On those from npm each run tells it by Electrum. */
  readonly always: readonly Backend[]
  /** On those from npm each run tells it by Esplora, too. */
  readonly isAlwaysByEsplora?: boolean
  /** It is told with each format of keys of a coin. */
  readonly hasFormats?: boolean
  /** By these it takes minutes with late replies, which a run takes with `--full` only. */
  readonly longLate?: readonly Backend[]
}

const ELECTRUM: readonly Backend[] = ['electrum']
const ELECTRUM_RPC: readonly Backend[] = ['electrum', 'rpc']
const EACH_WAY: readonly Backend[] = ['electrum', 'rpc', 'esplora']

const NODES = [litecoinLab, bitcoinLab, bitcoinCashLab]
const LITECOIN = [litecoinLab]

/** All stories: one that is missing here is an unused export, with which the check fails. */
const ROWS: readonly StoryRow[] = [
  { story: receivesAndPays, coins: NODES, always: EACH_WAY, isAlwaysByEsplora: true, hasFormats: true },
  // Each block of six reorganisations waits for a look at the server.
  {
    ...{ story: followsReorganisations, coins: NODES, always: EACH_WAY, isAlwaysByEsplora: true },
    longLate: ['rpc', 'esplora']
  },
  { story: paysMany, coins: NODES, always: ELECTRUM },
  { story: cannotPayTwice, coins: NODES, always: ELECTRUM },
  { story: followsRival, coins: NODES, always: ELECTRUM_RPC },
  { story: carriesMemos, coins: NODES, always: [] },
  { story: sweeps, coins: NODES, always: ELECTRUM_RPC },
  { story: hastens, coins: NODES, always: ELECTRUM },
  { story: waitsForCoinbase, coins: NODES, always: ELECTRUM },
  { story: sendsAgain, coins: NODES, always: ELECTRUM_RPC },
  { story: forgetsIncoming, coins: NODES, always: ELECTRUM_RPC },
  { story: restartsOffline, coins: NODES, always: ELECTRUM_RPC },
  { story: sendsAgainFromDeep, coins: NODES, always: ELECTRUM_RPC },
  { story: restartsAfterReorganisation, coins: NODES, always: ['rpc'] },
  // They need methods of Core that nodes from npm lack.
  { story: freezesCoins, coins: LITECOIN, always: ELECTRUM },
  { story: seesWaiting, coins: LITECOIN, always: ELECTRUM_RPC },
  // By Esplora each of the addresses is a question, four at a time, and the signature takes its time on a busy machine.
  { story: findsThousand, coins: LITECOIN, always: ELECTRUM, longLate: EACH_WAY },
  { story: signsMessages, coins: LITECOIN, always: ELECTRUM },
  // They keep the first of two payments.
  { story: replacesOrCancels, coins: [replacingLab], always: ELECTRUM },
  // Litecoin's and Bitcoin's signatures are of one kind.
  { story: refusesForeign, coins: [bitcoinCashLab], always: [] }
]

/** A node from npm has no wallet of Core's, so that no wallet of ours can ask it itself. */
const backendsOf = ({ isFromNpm }: LabCoin): readonly Backend[] =>
  isFromNpm ? EACH_WAY.filter(backend => backend !== 'rpc') : EACH_WAY

const runsOf = ({ story, ...row }: StoryRow): readonly StoryRun[] =>
  row.coins.flatMap(coin =>
    backendsOf(coin).flatMap(backend =>
      (row.hasFormats === true ? coin.formats : [coin.format]).map(format => {
        const isUsual = format === coin.format
        const isOften = coin.isFromNpm
          ? backend === 'electrum' || row.isAlwaysByEsplora === true
          : row.always.includes(backend)
        return {
          ...{ story, coin, backend, ...compact({ format: isUsual ? undefined : format }) },
          isAlways: isOften && (isUsual || backend === 'electrum'),
          isLongLate: row.longLate?.includes(backend) === true
        }
      })
    )
  )

/** Every story, on each node that can judge it, by each way to ask that node. */
export const STORY_RUNS: readonly StoryRun[] = ROWS.flatMap(runsOf)

type DeclareTest = (title: string, run: (t: ExecutionContext) => Promise<void>) => void

/** Runs what each run tells of a coin. */
export const runAlways = (test: DeclareTest, coins: readonly LabCoin[]): void => {
  for (const run of STORY_RUNS) if (run.isAlways && coins.includes(run.coin)) runStory(test, run)
}

/** Runs a drawn part of the runs, and with `--full` all of them; each test logs how to draw it again. */
export const runDrawn = (
  test: DeclareTest,
  runs: readonly StoryRun[],
  part: number,
  options: Pick<NodeLabOptions, 'delayMs'> = {}
): void => {
  const seeds: string[] = []
  const log = Object.assign((...lines: unknown[]) => void seeds.push(lines.join(' ')), { skip() {} })
  const withSeed: DeclareTest = (title, run) =>
    test(title, t => {
      t.log(...seeds)
      return run(t)
    })
  for (const run of drawPart({ log }, runs, part)) runStory(withSeed, run, options)
}

/** Tells a story in a lab; the title of the test names the lab. */
const runStory = (
  test: DeclareTest,
  { story: { title, run }, coin, backend, format }: StoryRun,
  { delayMs }: Pick<NodeLabOptions, 'delayMs'> = {}
): void => {
  const place = [coin.name, ...(format === undefined ? [] : [format]), `by ${backend}`].join(' ')
  const late = delayMs === undefined ? '' : ', every reply late'
  withNode(test, `${place}${late}: ${title}`, run, { coin, backend, ...compact({ format, delayMs }) })
}

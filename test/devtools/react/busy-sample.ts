import type { Actions } from '../../../app/actions/actions.ts'
import type { JournalEvent } from '../../../devtools/core/model/facts.ts'
import type { View } from '../../../devtools/core/model/slices.ts'
import {
  compact,
  nativeAmount,
  type OpenPaymentSnapshot,
  type QuoteSnapshot,
  type WalletSnapshot
} from '../../../kernel/index.ts'
import { SAMPLE_NOW, sampleEvents, sampleView } from './sample-client.ts'

/** The wallet of the sample that has been in use the most. */
export const SAVINGS = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
const SHOP = 'kq2vN7sT4cXo1WgLb8mZ3rYp6uHd9jEiFa0xCwQnRtM='
const TILL = 'wT6yLc3nQ8eJ1oRzXa5vGk0bUs7iHf4mDp2KqN9xWgE='
/** The transaction of its payment. */
export const TXID = '3f1d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e0f'

/** The round in which every provider failed, and one before it of which a quote was taken. */
const rounds = (): ReadonlyMap<string, QuoteSnapshot> => {
  const [first] = sampleView.quotes.values()
  if (first === undefined) throw new Error('The sample has quotes')
  const { request } = first
  const failed: readonly Partial<QuoteSnapshot>[] = [
    {
      ...{ pluginId: 'harbour', displayName: 'Harbour Exchange', durationMs: 230 },
      ...{ errorCode: 'SWAP_BELOW_LIMIT', message: 'The least it swaps is 2 500 000' },
      ...{ limit: '2500000', direction: 'from' }
    },
    {
      ...{ pluginId: 'mooring', displayName: 'Mooring', durationMs: 1204 },
      ...{ errorCode: 'NETWORK_ERROR', message: 'It answered 503 three times' }
    },
    { pluginId: 'slowpoke', displayName: 'Slowpoke', state: 'timed out', durationMs: 20_000 }
  ]
  const taken: readonly Partial<QuoteSnapshot>[] = [
    {
      ...{ pluginId: 'thornbridge', displayName: 'Thornbridge', state: 'resolved', isDex: true },
      ...{ quoteId: 'quote-9', fromNativeAmount: '1000000', toNativeAmount: '118800000' },
      ...{ networkFee: '2260', rank: 0, rankReason: 'gives 1.2 % more', durationMs: 380, fate: 'approved' }
    },
    {
      ...{ pluginId: 'swiftly', displayName: 'Swiftly', state: 'resolved' },
      ...{ quoteId: 'quote-10', fromNativeAmount: '1000000', toNativeAmount: '117400000' },
      ...{ networkFee: '2260', rank: 1, durationMs: 640, fate: 'closed', expiresAt: SAMPLE_NOW - 60_000 }
    }
  ]
  const quoteRow = (roundId: string, facts: Partial<QuoteSnapshot>): readonly [string, QuoteSnapshot] => [
    `${roundId} ${facts.pluginId}`,
    { ...{ request, pluginId: '', displayName: '', isDex: false, state: 'failed' }, ...facts, roundId }
  ]
  return new Map([
    ...taken.map(facts => quoteRow('round-0', facts)),
    ...failed.map(facts => quoteRow('round-1', facts)),
    ...sampleView.quotes,
    quoteRow('round-2', {
      ...{ pluginId: 'tidewater', displayName: 'Tidewater', state: 'resolved', quoteId: 'quote-3' },
      ...{ fromNativeAmount: '1000000', toNativeAmount: '116990000', networkFee: '2260', rank: 2 },
      ...{ isEstimate: true, durationMs: 801, expiresAt: SAMPLE_NOW - 4000 }
    })
  ])
}

const openPayment = (
  nativeAmount: string,
  facts: Pick<OpenPaymentSnapshot, 'reason' | 'state' | 'txid'>
): OpenPaymentSnapshot => ({
  ...{ tokenId: null, currencyCode: 'BTC', networkFee: '2260', at: SAMPLE_NOW - 400_000 },
  nativeAmount: `-${nativeAmount}`,
  targets: [{ publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount }],
  ...facts
})

/** Payments of that wallet that may still be mined, in three states. */
export const openPayments: readonly OpenPaymentSnapshot[] = [
  openPayment('1000000', { state: 'seen', txid: TXID }),
  openPayment('2500000', {
    ...{ state: 'refused', reason: 'min relay fee not met' },
    txid: '77aa0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e'
  }),
  openPayment('31000', {
    state: 'notInMempool',
    txid: 'c0ffee9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e'
  })
]

const ZERO = nativeAmount('0')
const balanceDetails: Required<WalletSnapshot>['balanceDetails'] = {
  '': {
    ...{ spendable: nativeAmount('134250000'), incoming: nativeAmount('20000000') },
    ...{ immature: ZERO, reserved: ZERO, frozen: nativeAmount('30000000') }
  }
}

const coin = (
  txid: string,
  facts: Pick<Coin, 'nativeAmount' | 'state'> & { readonly label?: string }
): Coin => ({
  ...{ coin: `${txid}:1`, publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' },
  ...{ nativeAmount: facts.nativeAmount, state: facts.state, isFrozen: facts.state === 'frozen' },
  blockHeight: facts.state === 'incoming' ? 0 : 871_000,
  untrusted: compact({ label: facts.label })
})

type Coin = Actions['coin.list']['out']['coins'][number]

/** The newest coins of that wallet, in three states; there are older ones. */
export const coinPage: Actions['coin.list']['out'] = {
  coins: [
    coin('11aa0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '20000000', state: 'incoming' }
    }),
    coin('22bb0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{
        nativeAmount: '30000000',
        state: 'frozen',
        label: 'Rent of the second stall until the end of the year'
      }
    }),
    coin('33cc0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '84250000', state: 'spendable', label: 'Sale of the boat' }
    }),
    coin('44dd0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '50000000', state: 'spendable' }
    })
  ],
  total: 24
}

const entry = (
  txid: string,
  facts: Pick<Entry, 'blockHeight' | 'grade' | 'nativeAmount' | 'state'> & { readonly name?: string }
): Entry => ({
  ...{ txid, at: 1_790_000_000_000, tokenId: null, currencyCode: 'BTC', decimals: 8, networkFee: '226' },
  ...{ nativeAmount: facts.nativeAmount, display: '0', isSend: facts.nativeAmount.startsWith('-') },
  ...{ blockHeight: facts.blockHeight, state: facts.state },
  ...compact({ grade: facts.grade }),
  untrusted: compact({ name: facts.name })
})

type Entry = Actions['tx.list']['out']['transactions'][number]

/** The newest transactions of that wallet, each of another grade or state; there are older ones. */
export const historyPage: Actions['tx.list']['out'] = {
  transactions: [
    entry('55aa0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '20000000', blockHeight: 0, state: 'unconfirmed', grade: 'claimed' }
    }),
    entry('66bb0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '-30000000', blockHeight: 871_000, state: 'confirmed', grade: 'agreed' },
      name: 'Rent of the second stall until the end of the year'
    }),
    entry('77cc0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '84250000', blockHeight: 870_000, state: 'confirmed', grade: 'proven' }
    }),
    entry('88dd0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e', {
      ...{ nativeAmount: '50000000', blockHeight: -1, state: 'dropped', grade: 'claimed' }
    })
  ],
  next: '88dd0d9c60b7a24e85d0c1f2a39b486e7d5c04a1b2e3f4968778695a4b3c2d1e'
}

const wallet = (walletId: string): View['wallets'] => {
  const known = sampleView.wallets.get(SAVINGS)
  if (known === undefined) throw new Error('The sample has a wallet')
  if (walletId === SAVINGS) return new Map([[walletId, { ...known, openPayments, balanceDetails }]])
  const changes =
    walletId === SHOP
      ? { name: 'Shop', balances: { '': '3400120' } }
      : { name: 'Till of the harbour market, second stall', balances: { '': '912' } }
  return new Map([[walletId, { ...known, walletId, ...changes }]])
}

const engine = (walletId: string, syncRatio: number): View['engines'] => {
  const known = sampleView.engines.get(SAVINGS)
  if (known === undefined) throw new Error('The sample has an engine')
  const state = syncRatio === 0 ? ('created' as const) : ('started' as const)
  return new Map([[walletId, { ...known, walletId, syncRatio, state }]])
}

/** The sample with a second account, rounds of every outcome, and spends. */
export const busyView: View = {
  ...sampleView,
  accounts: new Map([
    ...sampleView.accounts,
    [
      'account-2',
      {
        ...{ accountId: 'account-2', username: 'grace', appId: '', isLoggedIn: true, isPaused: false },
        ...{
          walletIds: [SHOP, TILL],
          activeWalletIds: [SHOP, TILL],
          archivedWalletIds: [],
          hiddenWalletIds: []
        }
      }
    ]
  ]),
  wallets: new Map([...sampleView.wallets, ...wallet(SAVINGS), ...wallet(SHOP), ...wallet(TILL)]),
  engines: new Map([...sampleView.engines, ...engine(SHOP, 0.07), ...engine(TILL, 0)]),
  quotes: rounds(),
  spends: new Map([['spend-1', { correlationId: 'spend-1', walletId: SAVINGS, stage: 'saved', txid: TXID }]])
}

const reported: readonly Omit<JournalEvent, 'seq'>[] = [
  {
    ...{ at: SAMPLE_NOW - 90, hook: 'spendChanged', subject: SAVINGS, correlationId: 'spend-1' },
    data: { correlationId: 'spend-1', walletId: SAVINGS, stage: 'signed' }
  },
  {
    ...{ at: SAMPLE_NOW - 60, hook: 'tapRan', subject: 'bitcoin', correlationId: 'spend-1' },
    data: {
      ...{ hook: 'broadcast', pluginId: 'bitcoin', correlationId: 'spend-1' },
      ...{ durationMs: 48.2, outcome: 'done' }
    }
  },
  {
    ...{ at: SAMPLE_NOW - 11, hook: 'spendChanged', subject: SAVINGS, correlationId: 'spend-1' },
    data: { correlationId: 'spend-1', walletId: SAVINGS, stage: 'saved', txid: TXID }
  },
  {
    ...{ at: SAMPLE_NOW - 10, hook: 'pluginFault', subject: 'harbour' },
    data: {
      ...{ pluginId: 'harbour', hook: 'fetchQuote', errorName: 'TypeError', errorCode: 'PLUGIN_BROKEN' },
      message: 'The answer has no field “toNativeAmount”'
    }
  },
  {
    ...{ at: SAMPLE_NOW - 5, hook: 'action', subject: SAVINGS },
    data: { action: 'spend.approve', outcome: 'done', durationMs: 96.4, subject: SAVINGS }
  }
]

/** Events of every kind: taps, told snapshots, a spend, a fault, an action and log lines. */
export const busyEvents: readonly JournalEvent[] = [
  ...sampleEvents(300),
  ...reported.map((event, at) => ({ ...event, seq: 300 + at }))
]

import test from 'ava'
import { nativeAmount } from '../../../../kernel/index.ts'
import type { PaymentSight } from '../../../../kernel/plugin-api.ts'
import type { OpenPaymentSnapshot } from '../../../../kernel/types/snapshots.ts'
import type { Transaction } from '../../../../kernel/types/transaction.ts'
import type { SpendIntent, SpendJournal, SpendStage } from '../../../../kernel/wallet/spend/journal.ts'
import {
  frozenCoinsIn,
  openPaymentsOf,
  similarPaymentsOf
} from '../../../../kernel/wallet/spend/open-payments.ts'

const tx = (changes: Partial<Transaction> = {}): Transaction =>
  ({
    ...{ txid: 'txid', tokenId: null, currencyCode: 'TOY', signedTx: 'bytes' },
    nativeAmount: nativeAmount('-5'),
    networkFee: nativeAmount('1'),
    spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5'), currencyCode: 'TOY' }],
    ...changes
  }) as Transaction

const openOf = (...intents: readonly Partial<SpendIntent>[]): readonly OpenPaymentSnapshot[] => {
  const signed = intents.map(intent => ({
    correlationId: 'id',
    stage: 'sending',
    at: 7,
    tx: tx(),
    ...intent
  }))
  return openPaymentsOf({ signed: () => signed } as unknown as SpendJournal)
}

const SIGHTS: readonly (PaymentSight['state'] | undefined)[] = [undefined, 'notSeen', 'notInMempool', 'seen']

test('an open payment shows what the network says of it, and its own stage where that says nothing', t => {
  const states = (stage: SpendStage, refusal?: string): (string | undefined)[] =>
    SIGHTS.map(state => {
      const sight = state === undefined ? {} : { sight: { state } as PaymentSight }
      return openOf({ stage, ...sight, ...(refusal === undefined ? {} : { refusal }) })[0]?.state
    })
  t.deepEqual(states('signed'), ['signed', 'signed', 'signed', 'seen'])
  t.deepEqual(states('signed', 'bad'), ['signed', 'signed', 'signed', 'seen'])
  t.deepEqual(states('sending'), ['notSeen', 'notSeen', 'notSeen', 'seen'])
  t.deepEqual(states('sending', 'bad'), ['refused', 'refused', 'refused', 'seen'])
  t.deepEqual(states('broadcast'), ['notSeen', 'notSeen', 'notInMempool', 'seen'])
  t.deepEqual(states('broadcast', 'bad'), ['notSeen', 'notSeen', 'notInMempool', 'seen'])
})

test('an open payment shows its amounts and payees, what it replaces, and why it was refused', t => {
  t.deepEqual(
    openOf({
      refusal: 'bad',
      tx: tx({ replaces: 'old' }),
      sight: { state: 'replaced', replacedBy: 'rival' }
    }),
    [
      {
        ...{ txid: 'txid', tokenId: null, currencyCode: 'TOY', at: 7 },
        nativeAmount: nativeAmount('-5'),
        networkFee: nativeAmount('1'),
        targets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }],
        ...{ state: 'replaced', reason: 'bad', replaces: 'old', replacedBy: 'rival' }
      }
    ]
  )
  t.deepEqual(openOf({ confirmedAt: 9 }), [], 'a confirmed payment is over')
  t.deepEqual(openOf({ sight: { state: 'replaced', isFinal: true } }), [])
})

test('payments that replace each other in a ring are no similar payments of a draft that replaces one of them', t => {
  const open = openOf(
    { tx: tx({ txid: 'a', replaces: 'b' }) },
    { tx: tx({ txid: 'b', replaces: 'a' }) },
    { tx: tx({ txid: 'c' }) }
  )
  const draft = { tokenId: null, spendTargets: tx().spendTargets ?? [], replaces: 'a' }
  t.deepEqual(
    similarPaymentsOf(open, draft).map(({ txid }) => txid),
    ['c']
  )
})

test('a replacement may spend the frozen coins of the payment that it replaces, and no others; a sweep none of any wallet', async t => {
  const signed = { tx: { txid: 'first', spentCoins: ['a:0'] } }
  const context = {
    frozenAmong: async (coins: readonly string[]) => coins,
    journal: { findSigned: (txid: string) => (txid === 'first' ? signed : undefined) },
    rules: { keptCoins: async () => ({ frozen: ['of another wallet'], reserved: [] }) },
    info: { pluginId: 'toy' }
  } as unknown as Parameters<typeof frozenCoinsIn>[0]
  const spend = { isSend: true, spentCoins: ['a:0', 'b:0'] }
  t.deepEqual(await frozenCoinsIn(context, { ...spend, replaces: 'first' }), ['b:0'])
  t.deepEqual(await frozenCoinsIn(context, { ...spend, replaces: 'other' }), ['a:0', 'b:0'])
  t.deepEqual(await frozenCoinsIn(context, spend), ['a:0', 'b:0'])
  t.deepEqual(await frozenCoinsIn(context, { ...spend, isSend: false }), ['of another wallet'])
})

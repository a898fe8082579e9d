import test from 'ava'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import {
  checkSpentCoins,
  type OpenPaymentContext,
  reserveCoins
} from '../../../../kernel/wallet/spend/open-payments.ts'

interface Payment {
  readonly txid: string
  readonly spentCoins?: readonly string[]
  readonly replaces?: string
  readonly isOver?: boolean
}

const A: Payment = { txid: 'A', spentCoins: ['a', 'b'] }
const B: Payment = { txid: 'B', spentCoins: ['b', 'c'], replaces: 'A' }
const OTHER: Payment = { txid: 'other', spentCoins: ['x'] }
const FORM: Payment = { txid: 'form', spentCoins: ['a', 'd'] }

/** What the check says to a draft beside these payments: nothing, the first words of its reason, or a code. */
const verdict = (payments: readonly Payment[], draft: Omit<Payment, 'txid'>): string => {
  const intents = payments.map(({ isOver = false, ...tx }) => ({ tx, ...(isOver && { confirmedAt: 1 }) }))
  const journal = {
    signed: () => intents,
    findSigned: (txid: string) => intents.find(({ tx }) => tx.txid === txid)
  }
  try {
    checkSpentCoins({ journal, info: { pluginId: 'coin' } } as unknown as OpenPaymentContext, draft as never)
    return ''
  } catch (error) {
    if (isWalletError(error, 'SIGN_REFUSED')) return error.details.reason
    return isWalletError(error) ? error.code : String(error)
  }
}

const reserved = (txid: string): string => `it spends a coin that is reserved for ${txid}`
const beside = (txid: string): string => `it could be mined beside ${txid}, which it is to replace`

test('a draft takes no coin of a payment that may still be mined, but for the one that it replaces', t => {
  t.is(verdict([A, OTHER], { spentCoins: ['b', 'e'] }), reserved('A'))
  t.is(verdict([A, OTHER], { spentCoins: ['e'] }), '')
  t.is(verdict([{ ...A, isOver: true }, OTHER], { spentCoins: ['b'] }), '')
  t.is(verdict([A, OTHER], { spentCoins: ['b', 'e'], replaces: 'A' }), '')
  t.is(verdict([A, OTHER], { spentCoins: ['b', 'x'], replaces: 'A' }), reserved('other'))
  t.is(verdict([OTHER, A], { spentCoins: ['x', 'b'], replaces: 'A' }), reserved('other'))
})

test('a replacement shares a coin with the payment that it replaces, and with each that this one replaced', t => {
  t.is(verdict([A], { spentCoins: ['e'], replaces: 'A' }), beside('A'))
  t.is(verdict([A, B], { spentCoins: ['b'], replaces: 'B' }), '')
  t.is(verdict([A, B], { spentCoins: ['c'], replaces: 'B' }), beside('A'))
  t.is(verdict([{ ...A, isOver: true }, B], { spentCoins: ['c'], replaces: 'B' }), '')
  t.is(verdict([A, B], { spentCoins: ['a'], replaces: 'B' }), beside('B'))
})

test('another form of what is replaced may share its coins with the replacement', t => {
  t.is(verdict([A, FORM], { spentCoins: ['a', 'd'], replaces: 'A' }), '')
  t.is(verdict([FORM, A], { spentCoins: ['a', 'd'], replaces: 'A' }), '')
  t.is(verdict([A, FORM], { spentCoins: ['d'], replaces: 'A' }), beside('A'))
})

test('where it is not known what a payment spends nothing is refused, and what it replaces must be there', t => {
  t.is(verdict([A], {}), '')
  t.is(verdict([{ txid: 'A' }], { spentCoins: ['a'] }), '')
  t.is(verdict([{ txid: 'A' }], { spentCoins: ['a'], replaces: 'A' }), '')
  t.is(verdict([OTHER], { spentCoins: ['e'], replaces: 'A' }), 'TX_NOT_FOUND')
  t.is(verdict([OTHER], { replaces: 'A' }), 'TX_NOT_FOUND')
})

test('a draft replaces a signed payment that is not over, of a currency that can replace, and nothing else', async t => {
  const verdictOf = async (reserves: boolean, replaces?: string): Promise<unknown> => {
    const intents = [
      { tx: { txid: 'open' } },
      { tx: { txid: 'confirmed' }, confirmedAt: 1 },
      { tx: { txid: 'beaten' }, sight: { state: 'replaced', isFinal: true } }
    ]
    const reserved: unknown[] = []
    const live = reserves ? { reservePayments: async (list: unknown[]) => void reserved.push(...list) } : {}
    const context = {
      journal: {
        signed: () => intents,
        findSigned: (txid: string) => intents.find(({ tx }) => tx.txid === txid)
      },
      engine: { call: async (_what: string, task: (engine: unknown) => Promise<void>) => task(live) },
      info: { displayName: 'Coin' }
    } as unknown as OpenPaymentContext
    return reserveCoins(context, replaces).then(
      () => reserved.length,
      (error: unknown) => (isWalletError(error) ? `${error.code}: ${error.message}` : error)
    )
  }
  t.is(await verdictOf(true), 3)
  t.is(await verdictOf(true, 'open'), 3)
  t.is(await verdictOf(false), 0)
  t.regex(String(await verdictOf(true, 'unknown')), /^TX_NOT_FOUND/)
  for (const txid of ['confirmed', 'beaten'])
    t.regex(String(await verdictOf(true, txid)), /^NOT_SUPPORTED.*a payment that is over/)
  t.regex(String(await verdictOf(false, 'open')), /^NOT_SUPPORTED.*a payment of Coin/)
})

import { createHash } from 'node:crypto'

// What both plugins of the made-up currency say: deterministic transactions, all incoming, one every ten minutes.

/** What the currency is called on both sides. */
export const COIN = {
  pluginId: 'bench',
  walletType: 'wallet:bench',
  currencyCode: 'BENCH',
  displayName: 'Bench Coin',
  denominations: [{ name: 'BENCH', multiplier: '100000000' }],
  blockHeight: 2_000_000,
  balance: '123456789'
} as const

/** What both sides report of transaction `i`, counted from 0; each adds what its interface wants besides. */
export const coinTransaction = (i: number): CoinTransaction => {
  const txid = txidOf(i)
  return {
    txid,
    tokenId: null,
    date: dateOf(i),
    blockHeight: 1000 + i,
    nativeAmount: String(1000 + i * 7),
    networkFee: '10',
    ourReceiveAddresses: [`bench1q${txid.slice(0, 32)}`],
    signedTx: ''
  }
}

/** A transaction without what only one side knows. */
export interface CoinTransaction {
  readonly txid: string
  readonly tokenId: null
  /** Unix seconds. */
  readonly date: number
  readonly blockHeight: number
  readonly nativeAmount: string
  readonly networkFee: string
  readonly ourReceiveAddresses: readonly string[]
  readonly signedTx: string
}

/** The transactions from one number up to another, which is left out. */
export const coinTransactions = (from: number, to: number): CoinTransaction[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => coinTransaction(from + i))

/** The name of transaction `i`. */
export const txidOf = (i: number): string => createHash('sha256').update(`bench tx ${i}`).digest('hex')

/** Unix seconds. */
const dateOf = (i: number): number => GENESIS + i * 600

/** What its user has noted on transaction `i`; no two notes are equal, and a fifth has each kind. */
export const noteOf = (i: number): string => `payment number ${i} for ${KINDS[i % KINDS.length]}`

/** The first block of Bitcoin. */
const GENESIS = 1_231_006_505

const KINDS = ['rent', 'coffee', 'salary', 'books', 'travel'] as const

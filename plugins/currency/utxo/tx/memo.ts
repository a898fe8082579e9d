import { hex, utf8 } from '@scure/base'
import { type Memo, type MemoOption, WalletError } from '../../../../kernel/plugin-api.ts'
import type { RawTx } from './raw-tx.ts'

// Nodes relay a data output whose script is at most 83 bytes (Bitcoin Core, MAX_OP_RETURN_RELAY).
const MAX_BYTES = 80
const NAME = 'OP_RETURN'

/** The memos of the family: one data output, text or hex, of at most 80 bytes. */
export const memoOptions: readonly MemoOption[] = [
  { type: 'text', memoName: NAME, maxLength: MAX_BYTES },
  { type: 'hex', memoName: NAME, maxLength: MAX_BYTES }
]

/** A memo with the script of the output that carries it. */
export interface MemoOutput {
  readonly memo: Memo
  readonly script: Uint8Array
}

/**
 * Reads the memo of a spend; undefined without one. An empty memo says nothing and is left out.
 *
 * @throws MEMO_INVALID for several, for numbers, and for more than 80 bytes, which text may have in fewer letters
 */
export const readMemo = (memos: readonly Memo[] = []): MemoOutput | undefined => {
  const [memo, ...others] = memos.filter(({ value }) => value !== '')
  if (memo === undefined) return undefined
  if (others.length > 0) throw invalid('must stand alone: a payment carries one memo here')
  const data = bytesOf(memo)
  if (data.length > MAX_BYTES) throw invalid(`is longer than ${MAX_BYTES} bytes`)
  const { type, value } = memo
  return { memo: { type, value, memoName: NAME }, script: dataScriptOf(data) }
}

/** OP_RETURN and one push. */
const dataScriptOf = (data: Uint8Array): Uint8Array =>
  Uint8Array.of(OP_RETURN, ...(data.length > MAX_SHORT ? [OP_PUSHDATA1] : []), data.length, ...data)

/**
 * The memos that a transaction carries: what reads as text is text, all else is hex.
 *
 * The data outputs of a coinbase are the miner's, and longer data than wallets write is nobody's memo.
 */
export const memosOf = ({ outputs, isCoinbase }: Pick<RawTx, 'isCoinbase' | 'outputs'>): readonly Memo[] => {
  if (isCoinbase) return NONE
  const found = outputs.flatMap(({ script }) => {
    const data = dataOf(script)
    return data === undefined || data.length === 0 ? [] : [memoOf(data)]
  })
  return found.length === 0 ? NONE : found
}

// Shared: hardly any transaction has a memo.
const NONE: readonly Memo[] = []
const OP_RETURN = 0x6a
const OP_PUSHDATA1 = 0x4c
const MAX_SHORT = 75

const invalid = (rule: string): WalletError => new WalletError('MEMO_INVALID', { rule })

const bytesOf = ({ type, value }: Memo): Uint8Array => {
  if (type !== 'text' && type !== 'hex') throw invalid('must be text or hex')
  try {
    return type === 'text' ? utf8.decode(value) : hex.decode(value.toLowerCase())
  } catch {
    throw invalid(type === 'text' ? 'has half of a letter' : 'must be hex, two digits a byte')
  }
}

const dataOf = (script: Uint8Array): Uint8Array | undefined => {
  if (script[0] !== OP_RETURN) return undefined
  const start = script[1] === OP_PUSHDATA1 ? 3 : 2
  const data = script.subarray(start)
  const isOnePush = data.length <= MAX_BYTES && script[start - 1] === data.length
  const isShortest = (start === 3) === data.length > MAX_SHORT
  return isOnePush && isShortest ? data : undefined
}

const memoOf = (data: Uint8Array): Memo => {
  const text = textOf(data)
  return text === undefined
    ? { type: 'hex', value: hex.encode(data), memoName: NAME }
    : { type: 'text', value: text, memoName: NAME }
}

/** Text that is read back as the same bytes, without control characters. */
const textOf = (data: Uint8Array): string | undefined => {
  try {
    const text = utf8.encode(data)
    const isSame = hex.encode(utf8.decode(text)) === hex.encode(data)
    return isSame && !/\p{Cc}/u.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

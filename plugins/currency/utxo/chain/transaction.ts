import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { hex, utf8 } from '@scure/base'
import { type Memo, type MemoOption, type Txid, WalletError } from '../../../../kernel/plugin-api.ts'

/** One input: the output it spends. */
export interface RawInput {
  readonly txid: Txid
  readonly vout: number
}

/** One output. `value` is in native units. */
export interface RawOutput {
  readonly value: bigint
  readonly script: Uint8Array
}

/** A transaction as parsed from its bytes; the id is computed, never believed. */
export interface RawTx {
  readonly txid: Txid
  readonly inputs: readonly RawInput[]
  readonly outputs: readonly RawOutput[]
  readonly isCoinbase: boolean
  /** Litecoin's, by which a block pays out what leaves the MimbleWimble extension block (HogEx). */
  readonly isPegOut: boolean
  readonly weight: number
}

/**
 * Parses a transaction of the Bitcoin family (BIP-144), whole and to the last byte.
 *
 * What Litecoin puts between witnesses and lock time (LIP-2) is no part of the id, and is skipped. So is what Dash and Firo
 * put behind the lock time of their special transactions (DIP-2), which is a part of the id.
 *
 * @throws TypeError for anything else
 */
export const parseRawTx = (bytes: Uint8Array): RawTx => {
  const reader = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at: 4 }
  const flags = bytes[4] === 0 ? (bytes[5] ?? 0) : 0
  if ((flags & ~(WITNESS | MWEB)) !== 0) throw new TypeError('A transaction has unknown parts')
  const hasWitness = (flags & WITNESS) !== 0
  if (flags !== 0) reader.at = 6
  const start = reader.at
  const inputs = readInputs(reader)
  const outputs = readOutputs(reader)
  const end = reader.at
  if (hasWitness) for (const _ of inputs) skipWitness(reader)
  const isPegOut = (flags & MWEB) !== 0 && skipMweb(reader)
  skip(reader, 4)
  // The upper half of the version is the type there.
  if (flags === 0 && reader.view.getUint16(0, true) >= SPECIAL && reader.view.getUint16(2, true) > 0)
    if (reader.at < bytes.length) skip(reader, readCount(reader))
  if (reader.at !== bytes.length) throw new TypeError('A transaction has bytes after its end')
  const base = flags !== 0 ? stripped(bytes, start, end) : bytes
  return {
    txid: hexOfReversed(sha256Twice(base)),
    inputs,
    outputs,
    isCoinbase: inputs.length === 1 && inputs[0]?.txid === NO_TXID && !isPrivateSpend(bytes, start),
    isPegOut,
    weight: base.length * 3 + bytes.length
  }
}

/** Bytes as hex, last byte first, as ids are shown. */
export const hexOfReversed = (bytes: Uint8Array): string => hexOf(Uint8Array.from(bytes).reverse())

/** Electrum's name of an output script: its SHA-256, reversed. */
export const scriptHashOf = (script: Uint8Array): string => hexOfReversed(sha256(script))

/** Bytes as lower-case hex. */
export const hexOf = (bytes: Uint8Array): string => {
  let text = ''
  // Not letter by letter: such a text keeps an object for each letter, for as long as it lives.
  for (let from = 0; from < bytes.length; from += PORTION) {
    const codes: number[] = []
    for (const byte of bytes.subarray(from, from + PORTION)) {
      codes.push(DIGITS[byte >> 4] as number, DIGITS[byte & 15] as number)
    }
    text += String.fromCharCode(...codes)
  }
  return text
}

/** The outpoint of an input that spends no output: of a coinbase, or of what pays out private coins of Firo. */
export const isNoOutpoint = (outpoint: string): boolean => outpoint.startsWith(NO_TXID)

/**
 * The script that an output of Bitcoin Cash pays to if tokens are on it (CHIP-2022-02 CashTokens); undefined for any other
 * output, and for what is malformed.
 */
export const tokenScriptOf = (script: Uint8Array): Uint8Array | undefined => {
  if (script[0] !== TOKEN_PREFIX || script.length < TOKEN_HEAD) return undefined
  const flags = script[TOKEN_HEAD - 1] ?? 0
  const view = new DataView(script.buffer, script.byteOffset, script.length)
  const reader = { bytes: script, view, at: TOKEN_HEAD }
  try {
    if ((flags & HAS_COMMITMENT) !== 0) skip(reader, readCount(reader))
    // A compact size of up to eight bytes.
    if ((flags & HAS_AMOUNT) !== 0) skip(reader, [2, 4, 8][(script[skip(reader, 1)] ?? 0) - 0xfd] ?? 0)
  } catch {
    return undefined
  }
  return script.subarray(reader.at)
}

/** Opcodes of Firo for what spends private coins; no coinbase begins with one, as it begins with the push of its height. */
const isPrivateSpend = (bytes: Uint8Array, start: number): boolean => {
  // Behind the count of inputs, an outpoint and the length of the script in one byte or, after a marker, in two or four.
  const at = start + 1 + 36
  const skipped = [3, 5][(bytes[at] ?? 0) - 0xfd] ?? 1
  return (bytes[at] ?? 0) > 0 && (bytes[at + skipped] ?? 0) >= FIRST_PRIVATE
}

interface Reader {
  readonly bytes: Uint8Array
  readonly view: DataView
  at: number
}

const PORTION = 512
const DIGITS = [...'0123456789abcdef'].map(digit => digit.charCodeAt(0))
const WITNESS = 1
const MWEB = 8
const SPECIAL = 3
const FIRST_PRIVATE = 0xc1
const TOKEN_PREFIX = 0xef
/** The prefix, the category and the flags. */
const TOKEN_HEAD = 34
const HAS_COMMITMENT = 0x40
const HAS_AMOUNT = 0x10
const NO_TXID = '0'.repeat(64)
const MAX_MONEY = 1n << 62n

const skip = (reader: Reader, count: number): number => {
  const start = reader.at
  if (start + count > reader.bytes.length) throw new TypeError('A transaction is cut short')
  reader.at = start + count
  return start
}

const readCount = (reader: Reader): number => {
  const first = reader.view.getUint8(skip(reader, 1))
  let count = first
  if (first === 0xfd) count = reader.view.getUint16(skip(reader, 2), true)
  if (first === 0xfe) count = reader.view.getUint32(skip(reader, 4), true)
  // Every counted thing takes at least one byte, so a count beyond the rest is a lie.
  if (first === 0xff || count > reader.bytes.length - reader.at)
    throw new TypeError('A transaction count is too large')
  return count
}

const readInputs = (reader: Reader): RawInput[] => {
  const inputs: RawInput[] = []
  const count = readCount(reader)
  if (count === 0) throw new TypeError('A transaction has no input')
  for (let i = 0; i < count; i++) {
    const start = skip(reader, 32)
    const txid = hexOfReversed(reader.bytes.subarray(start, start + 32))
    const vout = reader.view.getUint32(skip(reader, 4), true)
    skip(reader, readCount(reader))
    skip(reader, 4)
    inputs.push({ txid, vout })
  }
  return inputs
}

const readOutputs = (reader: Reader): RawOutput[] => {
  const outputs: RawOutput[] = []
  const count = readCount(reader)
  if (count === 0) throw new TypeError('A transaction has no output')
  for (let i = 0; i < count; i++) {
    const value = reader.view.getBigUint64(skip(reader, 8), true)
    if (value > MAX_MONEY) throw new TypeError('A transaction output is larger than all money')
    const length = readCount(reader)
    const start = skip(reader, length)
    outputs.push({ value, script: reader.bytes.slice(start, start + length) })
  }
  return outputs
}

const skipWitness = (reader: Reader): void => {
  const count = readCount(reader)
  for (let i = 0; i < count; i++) skip(reader, readCount(reader))
}

/** True for the empty part that marks the payment out of the extension block; else it goes on to the lock time. */
const skipMweb = (reader: Reader): boolean => {
  const kind = reader.bytes[skip(reader, 1)]
  if (kind !== 0) skip(reader, Math.max(0, reader.bytes.length - 4 - reader.at))
  return kind === 0
}

const stripped = (bytes: Uint8Array, start: number, end: number): Uint8Array => {
  const base = new Uint8Array(4 + (end - start) + 4)
  base.set(bytes.subarray(0, 4))
  base.set(bytes.subarray(start, end), 4)
  base.set(bytes.subarray(bytes.length - 4), base.length - 4)
  return base
}

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

/** SHA-256 twice: transaction ids, block hashes, Merkle nodes. */
export const sha256Twice = (data: Uint8Array): Uint8Array => sha256(sha256(data))

/** RIPEMD-160 of SHA-256: key and script hashes. */
export const hash160 = (data: Uint8Array): Uint8Array => ripemd160(sha256(data))

/** Checks if text is a lower-case 32-byte hash. */
export const isTxHash = (value: unknown): value is string => typeof value === 'string' && HASH.test(value)

const HASH = /^[0-9a-f]{64}$/

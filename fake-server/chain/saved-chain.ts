import { bytesToHex } from '@noble/hashes/utils.js'
import { utf8 } from '@scure/base'
import { sha256 } from '@scure/btc-signer/utils.js'
import { WalletError } from '../../kernel/base/errors.ts'
import type { Json, JsonObject } from '../../kernel/base/json.ts'
import { readmit } from './admission.ts'
import { decodeBlock } from './block.ts'
import type { ChainNetwork } from './chain-params.ts'
import { ChainState } from './chain-state.ts'
import { checkSpends, refuse } from './check.ts'
import { type FeeRates, parseFeeRates } from './faucet.ts'
import { decodeTransaction } from './transaction.ts'

/** The content of a saved chain. */
export interface SavedChain {
  readonly state: ChainState
  /** 32 bytes in hex. */
  readonly faucetKey: string
  readonly feeRates: FeeRates
}

/**
 * Writes a chain as JSON: blocks and waiting transactions in hex, and a checksum of what blocks do not prove.
 *
 * @param faucetKey - 32 bytes in hex
 */
export const saveChain = (
  state: ChainState,
  faucetKey: string,
  feeRates: ReadonlyMap<number, number>
): Json => {
  const blocks: Json[] = []
  for (let height = 1; height <= state.height; height += 1) {
    const block = state.blockAt(height)
    if (block !== undefined) blocks.push([block.headerHex, ...block.transactions.map(tx => tx.hex)])
  }
  const rest = {
    tip: state.tip.hash,
    mempool: [...state.mempool.entries()].map(entry => entry.tx.hex),
    faucetKey,
    feeRates: Object.fromEntries(feeRates)
  }
  return { format: FORMAT, version: 1, blocks, ...rest, checksum: checksumOf(rest) }
}

/**
 * Rebuilds a chain of a network, checking every link, every proof of work, every transaction's place and the checksum.
 *
 * @throws CORRUPT_FILE if any of it does not hold
 */
export const parseSavedChain = (network: ChainNetwork, saved: Json): SavedChain => {
  try {
    return parse(network, saved)
  } catch (error) {
    const rule = error instanceof WalletError && 'reason' in error.details ? error.details.reason : undefined
    const reason = rule ?? (error instanceof Error ? error.message : 'is unreadable')
    throw new WalletError('CORRUPT_FILE', { path: 'chain', rule: reason }, error)
  }
}

const FORMAT = 'holdfast-fake-chain'

const parse = (network: ChainNetwork, saved: Json): SavedChain => {
  if (!isObject(saved) || saved.format !== FORMAT || saved.version !== 1) throw new Error('is no saved chain')
  const { tip, mempool, faucetKey, feeRates, checksum } = saved
  if (!isTextList(mempool) || typeof faucetKey !== 'string' || !isRates(feeRates))
    throw new Error('lacks a field')
  const rest = { tip: tip ?? null, mempool, faucetKey, feeRates }
  if (checksum !== checksumOf(rest)) throw new Error('has another checksum')
  parseFeeRates(feeRates)
  const state = new ChainState(network)
  if (!Array.isArray(saved.blocks)) throw new Error('lacks its blocks')
  for (const block of saved.blocks as readonly Json[]) {
    if (!isTextList(block)) throw new Error('has a block that is no list of text')
    const [headerHex = '', ...transactions] = block
    state.connect(decodeBlock(network, headerHex, transactions.map(decodeTransaction)))
  }
  if (state.tip.hash !== tip) throw new Error('lacks its last block')
  for (const text of mempool) admitSaved(state, text)
  return { state, faucetKey, feeRates }
}

const admitSaved = (state: ChainState, text: string): void => {
  const tx = decodeTransaction(text)
  if (tx.inputs.length === 0) refuse(tx, 'bad-txns-vin-empty')
  const { fee, coins } = readmit(state, tx)
  checkSpends(tx, coins, state.network)
  state.enter(tx, fee, coins)
}

const checksumOf = (rest: JsonObject): string => bytesToHex(sha256(utf8.decode(JSON.stringify(rest))))

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTextList = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const isRates = (value: Json | undefined): value is Readonly<Record<string, number>> =>
  isObject(value) && Object.values(value).every(rate => typeof rate === 'number')

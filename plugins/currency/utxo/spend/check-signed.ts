import { type EngineTransaction, type SpentTarget, WalletError } from '../../../../kernel/plugin-api.ts'
import { parseAddress } from '../chain/address.ts'
import { hexOf, parseRawTx, type RawOutput, type RawTx, readMemo } from '../chain/transaction.ts'
import type { WalletContext } from '../wallet/wallet-state.ts'
import { findOutput, isFrozen, isTaken } from './sign.ts'

/**
 * Compares what is said of a signed transaction with its bytes. A file may have been changed: what a person approves
 * must be what the bytes do.
 *
 * Every input is a coin of ours that nothing else spends; every output is one of the targets, the memo, or ours.
 * Signatures are left to the network, which refuses a wrong one.
 *
 * @throws SIGNED_TX_INVALID naming the field
 */
export const checkSigned = (
  wallet: WalletContext,
  transaction: EngineTransaction,
  targets: readonly SpentTarget[]
): void => {
  const raw = orInvalid('signedTx', 'is no transaction of this currency', () =>
    parseRawTx(wallet.io.crypto.fromHex(transaction.signedTx))
  )
  if (raw.txid !== transaction.txid) throw invalid('txid', 'is not that of the bytes')
  const spent = spentBy(wallet, raw, replacedOf(transaction))
  const { spentCoins = [] } = transaction
  const coins = new Set(raw.inputs.map(({ txid, vout }) => `${txid}:${vout}`))
  if (
    spentCoins.length > 0 &&
    (spentCoins.length !== coins.size || !spentCoins.every(coin => coins.has(coin)))
  )
    throw invalid('spentCoins', 'are not what the bytes spend')
  const paid = raw.outputs.reduce((sum, { value }) => sum + value, 0n)
  if (String(spent - paid) !== transaction.networkFee)
    throw invalid('networkFee', 'is not what the bytes leave for it')
  const returned = raw.outputs
    .filter(output => isOurs(wallet, output))
    .reduce((sum, { value }) => sum + value, 0n)
  if (String(returned - spent) !== transaction.nativeAmount)
    throw invalid('nativeAmount', 'is not what the bytes take from the wallet')
  const others = restAfter(wallet, raw.outputs, targets)
  const foreign = others.filter(output => !isOurs(wallet, output))
  if (foreign.some(({ script }) => script[0] !== OP_RETURN))
    throw invalid('spendTargets', 'are not all that the bytes pay')
  const memo = orInvalid('memos', 'are none of this currency', () => readMemo(transaction.memos))
  if (foreign.map(({ script }) => hexOf(script)).join() !== (memo === undefined ? '' : hexOf(memo.script)))
    throw invalid('memos', 'are not what the bytes carry')
}

const OP_RETURN = 0x6a

const replacedOf = ({ otherParams }: EngineTransaction): string | undefined => {
  const draft = otherParams?.draft
  if (typeof draft !== 'object' || draft === null || !('replaces' in draft)) return undefined
  return typeof draft.replaces === 'string' ? draft.replaces : undefined
}

const invalid = (field: string, rule: string, cause?: unknown): WalletError =>
  new WalletError('SIGNED_TX_INVALID', { field, rule }, cause)

const orInvalid = <T>(field: string, rule: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw invalid(field, rule, error)
  }
}

const isOurs = ({ table }: WalletContext, { script }: RawOutput): boolean =>
  table.findScript(script) !== undefined

const spentBy = (
  wallet: WalletContext,
  { inputs, txid: own }: RawTx,
  replaced: string | undefined
): bigint => {
  let spent = 0n
  for (const { txid, vout } of inputs) {
    const output = findOutput(wallet, { txid, vout })
    if (output === undefined) throw invalid('signedTx', 'spends a coin that this wallet does not know')
    // Ours can be replaced: a dearer second payment of the same coin would silently undo the first.
    if (isTaken(wallet, { txid, vout }, { except: own, replaced }))
      throw invalid('signedTx', 'spends a coin that another payment has spent')
    if (isFrozen(wallet, { txid, vout }, replaced)) throw invalid('signedTx', 'spends a coin that is frozen')
    spent += output.value
  }
  return spent
}

/** The outputs that are left once each target has been paid by one of them. */
const restAfter = (
  { coin, network }: WalletContext,
  outputs: readonly RawOutput[],
  targets: readonly SpentTarget[]
): readonly RawOutput[] => {
  const left = [...outputs]
  for (const { publicAddress, nativeAmount } of targets) {
    const { script: wanted } = orInvalid('spendTargets', 'have an address of another currency', () =>
      parseAddress(coin, network, publicAddress)
    )
    const script = hexOf(wanted)
    const at = left.findIndex(
      output => String(output.value) === nativeAmount && hexOf(output.script) === script
    )
    if (at < 0) throw invalid('spendTargets', 'are not what the bytes pay')
    left.splice(at, 1)
  }
  return left
}

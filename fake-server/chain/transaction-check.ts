import { type ChainNetwork, POLICY } from './network.ts'
import { refuse } from './refusal.ts'
import { dustLimitOf, isPushOnly, kindOfScript, multisigOf } from './script.ts'
import { type ChainTransaction, isCoinbase, NO_TXID, outpointOf } from './transaction.ts'

/**
 * Checks what can be judged without the chain: shape, sums and standardness, in the order of a node.
 *
 * @throws BROADCAST_REFUSED with the reason of Bitcoin Core (`CheckTransaction`, then `IsStandardTx`)
 */
export const checkTransaction = (tx: ChainTransaction, network: ChainNetwork): void => {
  checkShape(tx, network)
  if (isCoinbase(tx)) refuse(tx, 'coinbase')
  checkStandard(tx, network)
}

const checkShape = (tx: ChainTransaction, { maxMoney }: ChainNetwork): void => {
  if (tx.inputs.length === 0) refuse(tx, 'bad-txns-vin-empty')
  if (tx.outputs.length === 0) refuse(tx, 'bad-txns-vout-empty')
  if (tx.baseSize * 4 > 4_000_000) refuse(tx, 'bad-txns-oversize')
  let total = 0n
  for (const { amount } of tx.outputs) {
    if (amount >= 1n << 63n) refuse(tx, 'bad-txns-vout-negative')
    if (amount > maxMoney) refuse(tx, 'bad-txns-vout-toolarge')
    total += amount
  }
  if (total > maxMoney) refuse(tx, 'bad-txns-txouttotal-toolarge')
  const outpoints = new Set(tx.inputs.map(input => outpointOf(input.txid, input.index)))
  if (outpoints.size < tx.inputs.length) refuse(tx, 'bad-txns-inputs-duplicate')
  if (!isCoinbase(tx) && tx.inputs.some(input => input.txid === NO_TXID)) refuse(tx, 'bad-txns-prevout-null')
}

const checkStandard = (tx: ChainTransaction, network: ChainNetwork): void => {
  if (tx.version < 1 || tx.version > 2) refuse(tx, 'version')
  if (tx.weight > POLICY.maxWeight) refuse(tx, 'tx-size')
  for (const { script } of tx.inputs) {
    if (script.length > POLICY.maxInputScript) refuse(tx, 'scriptsig-size')
    if (!isPushOnly(script)) refuse(tx, 'scriptsig-not-pushonly')
  }
  let dataOutputs = 0
  for (const { script, amount } of tx.outputs) {
    if (!isStandardOutput(script)) refuse(tx, 'scriptpubkey')
    if (script[0] === 0x6a) dataOutputs += 1
    else if (amount < dustLimitOf(script, network)) refuse(tx, 'dust')
  }
  if (dataOutputs > 1) refuse(tx, 'multi-op-return')
  if (tx.baseSize < POLICY.minBaseSize) refuse(tx, 'tx-size-small')
}

const isStandardOutput = (script: Uint8Array): boolean => {
  const kind = kindOfScript(script)
  if (kind === 'data') return script.length <= POLICY.maxDataScript
  if (kind === 'multisig') return (multisigOf(script)?.pubkeys.length ?? 0) <= 3
  return kind !== 'unknown'
}

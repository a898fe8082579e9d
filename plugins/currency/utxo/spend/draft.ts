import {
  compact,
  type Json,
  type JsonObject,
  type PluginId,
  type Txid,
  WalletError
} from '../../../../kernel/plugin-api.ts'

/** A coin to spend, with the path to its key. */
export interface DraftInput {
  readonly txid: Txid
  readonly vout: number
  readonly value: bigint
  /** Such as `84/0`. */
  readonly branch: string
  readonly index: number
}

/** An output to an address. `isChange`: it is ours. */
export interface PaidOutput {
  readonly address: string
  readonly value: bigint
  readonly isChange: boolean
}

/** An output that carries a memo and no money. */
export interface DataOutput {
  /** In hex. */
  readonly script: string
}

/** An output to make. */
export type DraftOutput = PaidOutput | DataOutput

/** Returns true for a payment. */
export const isPaid = (output: DraftOutput): output is PaidOutput => 'address' in output

/** What an output is worth; a memo nothing. */
export const worthOf = (output: DraftOutput): bigint => (isPaid(output) ? output.value : 0n)

/** An unsigned transaction as it travels in `otherParams`: no keys, amounts as decimal text. */
export interface Draft {
  /** The open payment whose place it takes. */
  readonly replaces?: string
  readonly lockTime: number
  readonly inputs: readonly DraftInput[]
  readonly outputs: readonly DraftOutput[]
}

/** The JSON form of a draft. */
export const writeDraft = ({ lockTime, inputs, outputs, replaces }: Draft): JsonObject => ({
  ...compact({ replaces }),
  lockTime,
  inputs: inputs.map(input => ({ ...input, value: String(input.value) })),
  outputs: outputs.map(
    (output): JsonObject => (isPaid(output) ? { ...output, value: String(output.value) } : { ...output })
  )
})

/** Reads the JSON form. @throws SIGN_REFUSED if anything in it is missing or out of range */
export const readDraft = (pluginId: PluginId, json: Json | undefined): Draft => {
  const { lockTime, inputs, outputs, replaces } = asObject(json)
  if (replaces !== undefined && !(typeof replaces === 'string' && /^[0-9a-f]{64}$/.test(replaces)))
    throw bad(pluginId)
  if (!isCount(lockTime, 0xffffffff) || !Array.isArray(inputs) || !Array.isArray(outputs)) throw bad(pluginId)
  const bounded =
    inputs.length > 0 && inputs.length <= 10_000 && outputs.length > 0 && outputs.length <= 10_000
  if (!bounded) throw bad(pluginId)
  return {
    ...compact({ replaces }),
    lockTime,
    inputs: inputs.map((item): DraftInput => {
      const { txid, vout, value, branch, index } = asObject(item)
      if (typeof txid !== 'string' || !/^[0-9a-f]{64}$/.test(txid) || typeof branch !== 'string')
        throw bad(pluginId)
      if (!isCount(vout, 0xffffffff) || !isCount(index, 0x7fffffff)) throw bad(pluginId)
      return { txid, vout, value: readValue(pluginId, value), branch, index }
    }),
    outputs: outputs.map((item): DraftOutput => {
      const { address, value, isChange, script } = asObject(item)
      if (typeof script === 'string') return { script }
      if (typeof address !== 'string' || typeof isChange !== 'boolean') throw bad(pluginId)
      return { address, value: readValue(pluginId, value), isChange }
    })
  }
}

/** Inputs less outputs. */
export const feeOfDraft = ({ inputs, outputs }: Draft): bigint => {
  const paid = inputs.reduce((sum, { value }) => sum + value, 0n)
  return paid - outputs.reduce((sum, output) => sum + worthOf(output), 0n)
}

const bad = (pluginId: PluginId): WalletError =>
  new WalletError('SIGN_REFUSED', {
    pluginId,
    reason: 'this transaction was not made by this wallet, or was changed',
    refusedBy: 'currency plugin'
  })

const asObject = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

const isCount = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max

const readValue = (pluginId: PluginId, value: Json | undefined): bigint => {
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw bad(pluginId)
  return BigInt(value)
}

import type { HDKey } from '@scure/bip32'
import { Transaction } from '@scure/btc-signer'
import {
  type CryptoPort,
  type EngineTransaction,
  WalletError,
  type WalletKeys
} from '../../../../kernel/plugin-api.ts'
import { parseAddress } from '../address/address.ts'
import { programOf, redeemScriptOf } from '../address/script.ts'
import { privateAccountOf } from '../keys/account-keys.ts'
import type { Purpose } from '../keys/branches.ts'
import type { CoinRow, NetworkRow } from '../params/coin-row.ts'
import type { ScriptRecord } from '../scan/script-record.ts'
import { makeYielder } from '../scan/yielder.ts'
import { readMemo } from '../tx/memo.ts'
import { hexOf, parseRawTx } from '../tx/raw-tx.ts'
import {
  type Draft,
  type DraftInput,
  type DraftOutput,
  feeOfDraft,
  isPaid,
  readDraft,
  worthOf
} from './draft.ts'
import type { SignContext } from './sign-context.ts'

/**
 * Signs a draft of this wallet.
 *
 * Every input must be a coin of ours with the value the draft says, every derived key must fit its script, and the
 * signed bytes must have exactly the draft's outputs; anything else is refused before anything leaves.
 *
 * @throws SIGN_REFUSED, KEY_INTEGRITY
 */
export const signDraft = async (
  context: SignContext,
  transaction: EngineTransaction,
  privateKeys: WalletKeys
): Promise<EngineTransaction> => {
  const draft = readDraft(context.coin.pluginId, transaction.otherParams?.draft)
  checkMoney(context, draft, transaction)
  const unsigned = new Transaction({
    lockTime: draft.lockTime,
    allowLegacyWitnessUtxo: true,
    // A memo is of no kind that can be spent; what is signed is compared with the draft below.
    allowUnknownOutputs: true,
    lowR: true
  })
  const keyring = new Keyring(context.coin, context.network, { privateKeys, crypto: context.io.crypto })
  const yielder = makeYielder(context.io.clock)
  try {
    for (const input of draft.inputs) addInput(context, unsigned, { input, keyring })
    for (const output of draft.outputs) {
      unsigned.addOutput({ script: scriptOf(context, output), amount: worthOf(output) })
    }
    for (const [at, input] of draft.inputs.entries()) {
      if (!unsigned.signIdx(keyring.privateKeyOf(input), at))
        throw refuse(context, 'a key does not fit its coin')
      await yielder.breathe()
    }
  } finally {
    keyring.wipe()
  }
  unsigned.finalize()
  const bytes = unsigned.extract()
  const txid = checkResult(context, draft, bytes)
  return { ...transaction, txid, signedTx: hexOf(bytes) }
}

// Either makes the lock time count; the lower one also signals replaceability (BIP-125).
const REPLACEABLE = 0xfffffffd
const FINAL = 0xfffffffe
const ABSURD_FEE = 1_000_000n

const refuse = ({ coin }: SignContext, reason: string): WalletError =>
  new WalletError('SIGN_REFUSED', { pluginId: coin.pluginId, reason })

const scriptOf = (context: SignContext, output: DraftOutput): Uint8Array => {
  if (isPaid(output)) return parseAddress(context.coin, context.network, output.address).script
  return context.io.crypto.fromHex(output.script)
}

const recordOf = (context: SignContext, { branch, index }: DraftInput): ScriptRecord => {
  const record = context.table.branchById(branch)?.records[index]
  if (record === undefined) throw refuse(context, 'a coin is not of this wallet')
  return record
}

const checkMoney = (context: SignContext, draft: Draft, transaction: EngineTransaction): void => {
  for (const { txid, vout, value, branch, index } of draft.inputs) {
    // Ours can be replaced: a dearer second payment of the same coin would silently undo the first.
    if (context.isSpent(txid, vout)) throw refuse(context, 'a coin has been spent since the draft was made')
    const output = context.findOutput(txid, vout)
    if (output?.value !== value) throw refuse(context, 'a coin has another value than the draft says')
    if (output.record.branch.id !== branch || output.record.index !== index) {
      throw refuse(context, 'a coin is of another key than the draft says')
    }
  }
  const fee = feeOfDraft(draft)
  const spent = draft.inputs.reduce((sum, { value }) => sum + value, 0n)
  if (fee < 0n || String(fee) !== transaction.networkFee)
    throw refuse(context, 'the fee is not the one that was shown')
  if (fee > ABSURD_FEE && fee > spent / 2n) throw refuse(context, 'the fee is more than half of the coins')
  const shown = readMemo(transaction.memos)
  const memos = draft.outputs.flatMap(output => (isPaid(output) ? [] : [output.script]))
  const wanted = shown === undefined ? [] : [hexOf(shown.script)]
  if (memos.length !== wanted.length || memos[0] !== wanted[0]) {
    throw refuse(context, 'the memo is not the one that was shown')
  }
  for (const output of draft.outputs) {
    const isChange = isPaid(output) && output.isChange
    if (isChange && context.table.findScript(scriptOf(context, output)) === undefined) {
      throw refuse(context, 'the change does not come back to this wallet')
    }
  }
}

const addInput = (
  context: SignContext,
  transaction: Transaction,
  { input, keyring }: { readonly input: DraftInput; readonly keyring: Keyring }
): void => {
  const record = recordOf(context, input)
  const publicKey = keyring.publicKeyOf(input, record.branch.purpose)
  if (hexOf(programOf(record.branch.purpose, publicKey)) !== hexOf(record.program.data)) {
    throw refuse(context, 'the keys are not those of this wallet')
  }
  transaction.addInput({
    txid: input.txid,
    index: input.vout,
    sequence: context.coin.isReplaceable ? REPLACEABLE : FINAL,
    witnessUtxo: { script: record.script, amount: input.value },
    ...(record.branch.purpose === 49 ? { redeemScript: redeemScriptOf(publicKey) } : {}),
    ...(record.branch.purpose === 86 ? { tapInternalKey: publicKey.slice(1) } : {})
  })
}

const checkResult = (context: SignContext, draft: Draft, bytes: Uint8Array): string => {
  const { txid, outputs, inputs } = parseRawTx(bytes)
  const isSame =
    outputs.length === draft.outputs.length &&
    inputs.length === draft.inputs.length &&
    draft.outputs.every((wanted, at) => {
      const output = outputs[at]
      return output?.value === worthOf(wanted) && hexOf(output.script) === hexOf(scriptOf(context, wanted))
    })
  if (!isSame) throw refuse(context, 'the signed bytes are not the draft')
  return txid
}

/** Derives the keys of one signature run and forgets them together. */
class Keyring {
  readonly #coin: CoinRow
  readonly #network: NetworkRow
  readonly #secret: { readonly privateKeys: WalletKeys; readonly crypto: CryptoPort }
  readonly #accounts = new Map<Purpose, HDKey>()
  readonly #branches = new Map<string, HDKey>()
  readonly #keys = new Map<string, HDKey>()

  constructor(coin: CoinRow, network: NetworkRow, secret: { privateKeys: WalletKeys; crypto: CryptoPort }) {
    this.#coin = coin
    this.#network = network
    this.#secret = secret
  }

  publicKeyOf(input: DraftInput, purpose: Purpose): Uint8Array {
    const { publicKey } = this.#keyOf(input, purpose)
    return publicKey ?? new Uint8Array(33)
  }

  privateKeyOf(input: DraftInput): Uint8Array {
    return this.#keyOf(input, Number(input.branch.split('/')[0]) as Purpose).privateKey ?? new Uint8Array(32)
  }

  wipe(): void {
    for (const keys of [this.#keys, this.#branches, this.#accounts]) {
      for (const key of keys.values()) key.wipePrivateData()
      keys.clear()
    }
  }

  #keyOf({ branch, index }: DraftInput, purpose: Purpose): HDKey {
    const path = `${branch}/${index}`
    const known = this.#keys.get(path)
    if (known !== undefined) return known
    const key = this.#branchOf(branch, purpose).deriveChild(index)
    this.#keys.set(path, key)
    return key
  }

  #branchOf(branch: string, purpose: Purpose): HDKey {
    const known = this.#branches.get(branch)
    if (known !== undefined) return known
    const { privateKeys, crypto } = this.#secret
    const account =
      this.#accounts.get(purpose) ??
      privateAccountOf(this.#coin, this.#network, { keys: privateKeys, crypto, purpose })
    this.#accounts.set(purpose, account)
    const key = account.deriveChild(Number(branch.split('/')[1]))
    this.#branches.set(branch, key)
    return key
  }
}

import type { HDKey } from '@scure/bip32'
import { Transaction } from '@scure/btc-signer'
import { signECDSA, signSchnorr, taprootTweakPrivKey } from '@scure/btc-signer/utils.js'
import {
  type CryptoPort,
  type EngineTransaction,
  type SigningOptions,
  WalletError,
  type WalletKeys
} from '../../../../kernel/plugin-api.ts'
import { parseAddress } from '../address/address.ts'
import { hash160 } from '../address/hashes.ts'
import { programOf, redeemScriptOf, writeScript } from '../address/script.ts'
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
import { type HashedInput, SignatureHashes, type SignatureKind } from './signature-hash.ts'

/**
 * Signs a draft of this wallet.
 *
 * Every input must be a coin of ours with the value the draft says, every derived key must fit its script, and the
 * signed bytes must have exactly the draft's outputs; anything else is refused before anything leaves.
 *
 * @throws SIGN_REFUSED, SIGN_STOPPED, KEY_INTEGRITY
 */
export const signDraft = async (
  context: SignContext,
  transaction: EngineTransaction,
  { privateKeys, signal, onProgress }: SigningOptions & { readonly privateKeys: WalletKeys }
): Promise<EngineTransaction> => {
  const draft = readDraft(context.coin.pluginId, transaction.otherParams?.draft)
  checkMoney(context, draft, transaction)
  const unsigned = new Transaction({
    lockTime: draft.lockTime,
    allowLegacyWitnessUtxo: true,
    // A memo is of no kind that can be spent; what is signed is compared with the draft below.
    allowUnknownOutputs: true
  })
  const keyring = new Keyring(context.coin, context.network, { privateKeys, crypto: context.io.crypto })
  const yielder = makeYielder(context.io.clock)
  let done = 0
  /** After one of two steps an input: its keys, and its signature. */
  const goOn = async (): Promise<void> => {
    done += 1
    const turn = yielder.breathe()
    if (turn === undefined) return
    onProgress?.(done / (2 * draft.inputs.length))
    await turn
    if (signal?.aborted === true) throw new WalletError('SIGN_STOPPED', {})
  }
  try {
    const inputs: HashedInput[] = []
    for (const input of draft.inputs) {
      inputs.push(addInput(context, unsigned, { input, keyring }))
      await goOn()
    }
    const outputs = draft.outputs.map(output => ({
      script: scriptOf(context, output),
      value: worthOf(output)
    }))
    for (const { script, value } of outputs) unsigned.addOutput({ script, amount: value })
    const hashes = new SignatureHashes({ lockTime: draft.lockTime, inputs, outputs })
    for (const [at, input] of draft.inputs.entries()) {
      unsigned.updateInput(at, signatureOf(hashes.hashOf(at), { input, keyring }), true)
      await goOn()
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
  new WalletError('SIGN_REFUSED', { pluginId: coin.pluginId, reason, refusedBy: 'currency plugin' })

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
    if (context.isTaken({ txid, vout }, { replaced: draft.replaces }))
      throw refuse(context, 'a coin has been spent since the draft was made')
    const output = context.findOutput(txid, vout)
    if (output?.value !== value) throw refuse(context, 'a coin has another value than the draft says')
    if (output.record.branch.id !== branch || output.record.index !== index) {
      throw refuse(context, 'a coin is of another key than the draft says')
    }
  }
  const { replaces } = draft
  if (replaces !== undefined && !draft.inputs.some(coin => context.isCoinOf(coin, replaces)))
    throw refuse(context, 'it spends no coin of the payment that it is to replace')
  // A height is only what a server says, and a payment that was refused today could be mined then.
  if (draft.lockTime !== 0) throw refuse(context, 'the draft is not to be mined at once')
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
): HashedInput => {
  const record = recordOf(context, input)
  const { purpose } = record.branch
  const publicKey = keyring.publicKeyOf(input)
  if (hexOf(programOf(purpose, publicKey)) !== hexOf(record.program.data)) {
    throw refuse(context, 'the keys are not those of this wallet')
  }
  const sequence = context.coin.isReplaceable ? REPLACEABLE : FINAL
  transaction.addInput({
    txid: input.txid,
    index: input.vout,
    sequence,
    witnessUtxo: { script: record.script, amount: input.value },
    ...(purpose === 49 ? { redeemScript: redeemScriptOf(publicKey) } : {}),
    ...(purpose === 86 ? { tapInternalKey: publicKey.slice(1) } : {})
  })
  const { txid, vout, value } = input
  const kind = kindOf[purpose]
  const { script } = record
  // BIP-143: what a key hash signs looks as if it paid to that hash in the old way.
  const scriptCode = kind === 'segwit' ? writeScript({ type: 'p2pkh', data: hash160(publicKey) }) : script
  return { txid, vout, value, sequence, script, kind, scriptCode }
}

const kindOf: Readonly<Record<Purpose, SignatureKind>> = {
  32: 'legacy',
  44: 'legacy',
  49: 'segwit',
  84: 'segwit',
  86: 'taproot'
}

/** The signature of one input, which the library puts into its place. */
const signatureOf = (
  hash: Uint8Array,
  { input, keyring }: { readonly input: DraftInput; readonly keyring: Keyring }
): { tapKeySig: Uint8Array } | { partialSig: [Uint8Array, Uint8Array][] } => {
  const privateKey = keyring.privateKeyOf(input)
  if (purposeOf(input) === 86) {
    const tweaked = taprootTweakPrivKey(privateKey)
    const tapKeySig = signSchnorr(hash, tweaked)
    tweaked.fill(0)
    return { tapKeySig }
  }
  const signature = Uint8Array.of(...signECDSA(hash, privateKey, true), SIGHASH_ALL)
  return { partialSig: [[keyring.publicKeyOf(input), signature]] }
}

const SIGHASH_ALL = 1

const purposeOf = ({ branch }: DraftInput): Purpose => Number(branch.split('/')[0]) as Purpose

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

  publicKeyOf(input: DraftInput): Uint8Array {
    return this.#keyOf(input).publicKey ?? new Uint8Array(33)
  }

  privateKeyOf(input: DraftInput): Uint8Array {
    return this.#keyOf(input).privateKey ?? new Uint8Array(32)
  }

  wipe(): void {
    for (const keys of [this.#keys, this.#branches, this.#accounts]) {
      for (const key of keys.values()) key.wipePrivateData()
      keys.clear()
    }
  }

  #keyOf(input: DraftInput): HDKey {
    const { branch, index } = input
    const path = `${branch}/${index}`
    const known = this.#keys.get(path)
    if (known !== undefined) return known
    const key = this.#branchOf(branch, purposeOf(input)).deriveChild(index)
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

import { createHash } from 'node:crypto'
import { hex } from '@scure/base'
import { p2ms, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, RawTx, Transaction } from '@scure/btc-signer'
import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js'
import type { ExecutionContext } from 'ava'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { scriptHashOf } from '../../../fake-server/chain/script.ts'
import type { ChainCoin } from '../../../fake-server/chain/transaction.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'

/** A script with what is needed to spend from it. */
export interface TestWallet {
  readonly script: Uint8Array
  readonly address: string
  readonly scriptHash: string
  readonly keys: readonly Uint8Array[]
  /** The fields that btc-signer wants beside the outpoint. */
  readonly fields: object
}

/** The kinds of spend of architecture decision 27. */
export type TestWalletKind = 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2wsh' | 'p2tr'

export const testWalletKinds: readonly TestWalletKind[] = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2wsh', 'p2tr']

/** A purse of its own for each kind and number, from fixed keys. */
export const makeTestWallet = (kind: TestWalletKind, number = 1): TestWallet => {
  const key = (part: number): Uint8Array => new Uint8Array(32).fill(number * 10 + part)
  const pubkey = pubECDSA(key(0))
  switch (kind) {
    case 'p2pkh':
      return testWalletOf(p2pkh(pubkey, BITCOIN_REGTEST.prefixes), [key(0)])
    case 'p2sh-p2wpkh':
      return testWalletOf(p2sh(p2wpkh(pubkey, BITCOIN_REGTEST.prefixes), BITCOIN_REGTEST.prefixes), [key(0)])
    case 'p2wpkh':
      return testWalletOf(p2wpkh(pubkey, BITCOIN_REGTEST.prefixes), [key(0)])
    case 'p2wsh': {
      const multisig = p2ms(2, [pubkey, pubECDSA(key(1)), pubECDSA(key(2))])
      return testWalletOf(p2wsh(multisig, BITCOIN_REGTEST.prefixes), [key(0), key(2)])
    }
    case 'p2tr':
      return testWalletOf(p2tr(pubSchnorr(key(0)), undefined, BITCOIN_REGTEST.prefixes), [key(0)])
  }
}

/** A chain with a still clock and repeatable chance. */
export const makeChain = (): FakeChain =>
  openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(1) })

/** A chain whose purse has confirmed coins of these amounts. */
export const makeFundedChain = (
  testWallet: TestWallet,
  amounts: readonly string[] = ['1000000']
): FakeChain => {
  const chain = makeChain()
  for (const amount of amounts) chain.fund(testWallet.address, amount)
  chain.mine()
  return chain
}

/** Saves a chain and opens it again, with another chance. */
export const reopen = (chain: FakeChain): FakeChain =>
  openFakeChain({
    clock: makeFakeClock(),
    random: makeSeededRandom(9),
    saved: JSON.parse(JSON.stringify(chain.toJson()))
  })

/** What to spend, and how; `change` is called before signing. */
export interface SpendPlan {
  readonly coins?: readonly ChainCoin[]
  readonly outputs: readonly { readonly script: Uint8Array; readonly amount: bigint }[]
  readonly sequence?: number
  readonly lockTime?: number
  /** What the signer believes the coins to be worth more than they are. */
  readonly lie?: bigint
  readonly version?: number
}

/** Signs a spend of the purse's coins with btc-signer. Returns hex. */
export const signSpend = (chain: FakeChain, testWallet: TestWallet, plan: SpendPlan): string => {
  const { coins = chain.view.scripts.utxosOf(testWallet.scriptHash), outputs, sequence = 0xfffffffe } = plan
  const tx = new Transaction({
    allowUnknownOutputs: true,
    allowUnknownVersion: true,
    lockTime: plan.lockTime ?? 0,
    version: plan.version ?? 2
  })
  for (const { txid, index, amount, script } of coins) {
    const isLegacy = script[0] === 0x76
    tx.addInput({
      ...testWallet.fields,
      txid,
      index,
      sequence,
      ...(isLegacy
        ? { nonWitnessUtxo: hex.decode(chain.view.find(txid)?.tx.hex ?? '') }
        : { witnessUtxo: { amount: amount + (plan.lie ?? 0n), script } })
    })
  }
  for (const output of outputs) tx.addOutput(output)
  for (const key of testWallet.keys) tx.sign(key)
  tx.finalize()
  return tx.hex
}

/** Signs a payment of everything the purse has, less a fee, to another script. */
export const signAll = (
  chain: FakeChain,
  testWallet: TestWallet,
  { to, fee, sequence }: { to: Uint8Array; fee: bigint; sequence?: number }
): string => {
  const total = chain.view.scripts.utxosOf(testWallet.scriptHash).reduce((sum, coin) => sum + coin.amount, 0n)
  return signSpend(chain, testWallet, {
    outputs: [{ script: to, amount: total - fee }],
    ...(sequence === undefined ? {} : { sequence })
  })
}

/** Takes a transaction apart, lets `change` alter it, and puts it together again. */
export const alter = (text: string, change: (raw: ReturnType<typeof RawTx.decode>) => void): string => {
  const raw = RawTx.decode(hex.decode(text))
  change(raw)
  return hex.encode(RawTx.encode(raw))
}

/** Asserts that a broadcast is refused with this reason and changes nothing. */
export const refuses = (
  t: ExecutionContext,
  chain: FakeChain,
  [text, reason]: readonly [string, RegExp]
): void => {
  const before = JSON.stringify(chain.toJson())
  const error = t.throws(() => chain.broadcast(text), undefined, `${reason}`)
  t.true(isWalletError(error, 'BROADCAST_REFUSED'), String(error))
  if (isWalletError(error, 'BROADCAST_REFUSED')) t.regex(error.details.reason, reason)
  t.is(JSON.stringify(chain.toJson()), before)
}

/** Double SHA-256 by Node, independent of the libraries under test. */
export const doubleSha256 = (bytes: Uint8Array): Buffer =>
  createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest()

/** The bytes of a hash in display order, as they stand in blocks. */
export const innerBytes = (display: string): Buffer => Buffer.from(display, 'hex').reverse()

const testWalletOf = (
  payment: { script: Uint8Array; address?: string },
  keys: readonly Uint8Array[]
): TestWallet => {
  const { script, address = '' } = payment
  return { script, address, scriptHash: scriptHashOf(script), keys, fields: payment }
}

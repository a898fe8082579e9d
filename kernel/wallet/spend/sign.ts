import { type NativeAmount, negate } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { isWalletError, WalletError } from '../../base/errors.ts'
import type { AbortSignalLike } from '../../io/io.ts'
import type { KeyRequest } from '../../keys/key-gate.ts'
import type { SigningOptions } from '../../types/engine.ts'
import type { WalletKeys } from '../../types/keys.ts'
import { networkFeesOf } from '../../types/network-fee.ts'
import type { PaymentApproval } from '../../types/policy.ts'
import type { KeyUse } from '../../types/snapshots.ts'
import type { Transaction } from '../../types/transaction.ts'
import type { SpendIntent } from './journal.ts'
import type { OpenPaymentContext } from './open-payments.ts'
import { engineCopyOf, signedDraftOf } from './reviewed-transaction.ts'

/** Options for signing a draft. */
export interface SignOptions {
  /** The most that the network may take, in native units of the chain's own coin; replaces the limit of the draft. */
  readonly maxNetworkFee?: NativeAmount | undefined
  /**
   * The txids of all open payments that are known to pay the same, from `similarPayments`: the draft is refused if another
   * one is open when its turn comes. If left out, nothing is compared.
   */
  readonly knownSimilar?: readonly string[] | undefined
  /** The name of the program that asks for the payment, for the rules that concern it; left out: a person does. */
  readonly requestedBy?: string | undefined
  /** The approval of a second device, where a rule wants one; it is good once, for the draft that it was given for. */
  readonly approval?: PaymentApproval | undefined
  /** Stops a long signature. It has no effect once the signed bytes are kept. */
  readonly signal?: AbortSignalLike | undefined
  /** Receives the finished share of a long signature, from 0 to 1. */
  readonly onProgress?: ((ratio: number) => void) | undefined
  /** Called once the signed bytes are kept, and waited for before they are sent. What it throws is reported only. */
  readonly onSigned?: ((signed: Transaction) => Promise<void>) | undefined
}

/** Has the engine sign a draft: only what was reviewed is signed, whatever it answers. @throws SIGNED_OTHERWISE, SIGN_STOPPED, BOGUS_TX */
export const signDraft = async (
  { engine, info, services }: Pick<OpenPaymentContext, 'engine' | 'info' | 'services'>,
  draft: Transaction,
  { privateKeys, signal, onProgress }: Following & { readonly privateKeys: WalletKeys }
): Promise<Transaction> => {
  const { pluginId } = info
  const options = followedBy(services, { signal, onProgress })
  const tx = await untilAborted(signal, () =>
    engine.call('signing', async made =>
      signedDraftOf(pluginId, draft, await made.signTx(engineCopyOf(draft), privateKeys, options))
    )
  )
  await engine.call('checking a signature', async made => {
    try {
      await made.checkSignedTx?.(engineCopyOf(tx), tx.spendTargets ?? [])
    } catch (error) {
      throw new WalletError('SIGNED_OTHERWISE', { pluginId, field: fieldOf(error) }, error)
    }
  })
  return tx
}

/** How a long call of an engine is followed and stopped. */
export type Following = Pick<SignOptions, 'onProgress' | 'signal'>

/** The options of an engine's call: what it says of its progress is checked. */
export const followedBy = (
  services: Pick<OpenPaymentContext['services'], 'report'>,
  { signal, onProgress }: Following
): SigningOptions => ({
  ...compact({ signal }),
  onProgress(ratio) {
    try {
      if (typeof ratio === 'number' && ratio >= 0 && ratio <= 1) onProgress?.(ratio)
    } catch (error) {
      services.report('progress of a signature', error)
    }
  }
})

/** Waits for a signature until the signal aborts; one that comes later is dropped. @throws SIGN_STOPPED */
export const untilAborted = async <T>(
  signal: AbortSignalLike | undefined,
  call: () => Promise<T>
): Promise<T> => {
  if (signal === undefined) return call()
  if (signal.aborted) throw new WalletError('SIGN_STOPPED', {})
  let stop = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new WalletError('SIGN_STOPPED', {}))
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([call(), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const fieldOf = (error: unknown): string =>
  isWalletError(error, 'SIGNED_TX_INVALID') ? error.details.field : 'signedTx'

/** Shows policies what a spend pays, before its keys are used. */
export const questionOf = <U extends KeyUse>(
  use: U,
  {
    correlationId,
    requestedBy,
    tx
  }: Pick<SpendIntent, 'tx'> & Partial<Pick<SpendIntent, 'correlationId' | 'requestedBy'>>
): KeyRequest & { readonly use: U } => ({
  use,
  ...compact({ correlationId, requestedBy }),
  currencyCode: tx.currencyCode,
  tokenId: tx.tokenId,
  nativeAmount: tx.nativeAmount.startsWith('-') ? negate(tx.nativeAmount) : tx.nativeAmount,
  networkFee: tx.networkFee,
  networkFees: networkFeesOf(tx),
  targets: (tx.spendTargets ?? []).map(({ publicAddress, nativeAmount: amount }) => ({
    publicAddress,
    nativeAmount: amount
  }))
})

import type { Services } from '../plugins/services.ts'
import type { KeyUse, SpendSnapshot } from '../types/snapshots.ts'

declare const passed: unique symbol

/** Proves that private keys may be opened: every policy has agreed, or the use needs no question. */
export interface KeyPass {
  readonly [passed]: true
}

/** The facts of a use that policies receive; fields that do not apply are left out. */
export type KeyRequest = { readonly use: KeyUse } & Partial<Omit<SpendSnapshot, 'use'>>

/** The uses that no policy is asked about: they sign, show and hand out nothing. */
export type ExemptUse = 'derive public keys' | 'split'

/**
 * Asks every policy (`beforeSign`) before private keys sign something, are shown, are exported, or are handed to a
 * plugin or to another device. This is the only gate: `openKeys` takes nothing but its pass.
 *
 * @throws what a policy objects
 */
export const requestKeys = async (
  { hooks, io }: Pick<Services, 'hooks' | 'io'>,
  question: KeyRequest
): Promise<KeyPass> => {
  await hooks.beforeSign.promise(
    Object.freeze({
      correlationId: question.correlationId ?? io.crypto.toHex(io.random(8)),
      ...NOTHING,
      ...question,
      targets: Object.freeze((question.targets ?? []).map(target => Object.freeze({ ...target })))
    })
  )
  return PASS
}

/** The pass of a use that no policy is asked about. `npm run check -- keys` knows every place that may call this. */
export const exemptPass = (_use: ExemptUse): KeyPass => PASS

const NOTHING = {
  walletId: '',
  pluginId: '',
  currencyCode: '',
  tokenId: null,
  nativeAmount: '0',
  networkFee: '0'
} as const

const PASS = Object.freeze({}) as KeyPass

import { isWalletError, type WalletError } from '../../base/errors.ts'
import { isoOf } from '../../base/time.ts'
import type { Services } from '../../plugins/services.ts'
import type { LoginStash } from '../../types/login.ts'
import type { Stashes } from './stash.ts'
import { replaceStash } from './stash-tree.ts'

type VoucherPort = Pick<Services, 'io' | 'report'>

/** The login that a request was about. */
export interface AskedLogin {
  /** The root login as it was found, perhaps empty. */
  readonly stash: LoginStash
  /** The login within it. */
  readonly node: LoginStash
  /** It was logged in already, so that the date of the last login stays. */
  readonly isRefresh?: boolean
}

/**
 * Keeps what a refused code says of the account and its voucher, before the error is raised (specification §8).
 *
 * Other errors are passed over. Saving must not hide why the request failed, so its own failure is reported.
 */
export const keepVoucher = async (
  port: VoucherPort,
  stashes: Stashes,
  asked: AskedLogin,
  error: unknown
): Promise<void> => {
  if (!isWalletError(error, 'OTP')) return
  try {
    await saveVoucher(port, stashes, { ...asked, details: error.details })
  } catch (failure) {
    port.report('login', failure)
  }
}

interface RefusedLogin extends AskedLogin {
  readonly details: WalletError<'OTP'>['details']
}

const saveVoucher = async ({ io }: VoucherPort, stashes: Stashes, refused: RefusedLogin): Promise<void> => {
  const { stash, node, isRefresh, details } = refused
  const { loginId, voucherId, voucherAuth } = details
  const isNew = stash.loginId === '' && loginId !== undefined
  const hasVoucher = voucherId !== undefined && voucherAuth !== undefined
  if (!isNew && !(hasVoucher && stash.loginId !== '')) return
  const voucher = hasVoucher ? { voucherId, voucherAuth } : {}
  const dated = isRefresh === true ? {} : { lastLogin: isoOf(io.clock.now()) }
  await stashes.update(isNew ? loginId : stash.loginId, present => {
    // A server that names the id of another account of this device changes nothing there.
    if (isNew) return present ?? { ...stash, loginId, ...voucher, ...dated }
    if (present === undefined) return undefined
    return { ...replaceStash(present, node.loginId, known => ({ ...known, ...voucher })), ...dated }
  })
}

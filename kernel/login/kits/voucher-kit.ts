import type { LoginTree } from '../../types/login.ts'
import type { LoginKit } from './login-kit.ts'

/** What becomes of devices that wait. */
export type VoucherVerdict = 'approved' | 'rejected'

/** Lets devices that wait log in without a code, or shuts them out; the server answers with what still waits (protocol §2.4). */
export const makeVoucherKit = (
  { loginId }: LoginTree,
  verdict: VoucherVerdict,
  voucherIds: readonly string[]
): LoginKit => ({
  loginId,
  serverMethod: 'POST',
  serverPath: '/v2/login/vouchers',
  serverBody: { [verdict === 'approved' ? 'approvedVouchers' : 'rejectedVouchers']: [...voucherIds] },
  stash: {},
  isReplyKept: true
})

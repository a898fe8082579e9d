import { isWalletError } from '../../base/errors.ts'
import type { Services } from '../../plugins/services.ts'
import { parseLoginPayload } from '../../schema/login.ts'
import type { LoginPayload, LoginStash } from '../../types/login.ts'
import { changeStash, type LoginKit } from '../kits/login-kit.ts'
import { keepVoucher } from '../stash/keep-voucher.ts'
import type { Stashes } from '../stash/stash.ts'
import { encodeLoginRequest, type LoginRequest } from './login-request.ts'
import { loginFetch } from './login-server.ts'

/** A change on its way to the server, and the login that it changes. */
export interface SentChange {
  readonly kit: LoginKit
  readonly request: LoginRequest
  /** The whole stash, and the login within it. */
  readonly stash: LoginStash
  readonly node: LoginStash
}

/**
 * Tells the server of a change, and gives its answer where that is the login as it is now.
 *
 * @throws OTP after the voucher that it names is saved; what the server answers
 */
export const sendChange = async (
  port: Pick<Services, 'io' | 'config' | 'report'>,
  stashes: Stashes,
  { kit, request, stash, node }: SentChange
): Promise<LoginPayload | undefined> => {
  const { intent } = kit
  if (intent !== undefined) {
    const { loginId } = node
    await stashes.update(
      stash.loginId,
      root => root && changeStash(root, loginId, { loginId, stash: intent })
    )
  }
  try {
    const body = encodeLoginRequest(port.io, request)
    const results = await loginFetch(port, kit.serverMethod, kit.serverPath, body)
    return kit.isReplyKept === true ? parseLoginPayload(results) : undefined
  } catch (error) {
    if (kit.doneBefore !== undefined && isWalletError(error, kit.doneBefore)) return undefined
    await keepVoucher(port, stashes, { stash, node, isRefresh: true }, error)
    throw error
  }
}

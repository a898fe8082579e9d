import { isWalletError, WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { isoOf } from '../../base/time.ts'
import type { Io } from '../../io/io.ts'
import { parseEdgeLoginReply } from '../../schema/lobby.ts'
import type { LoginId } from '../../types/ids.ts'
import type { LoginPayload, LoginStash } from '../../types/login.ts'
import { userIdOf } from '../derive.ts'
import { openLobbyReply } from '../lobby.ts'
import { Login } from '../login.ts'
import { deviceFields, type LoginServices, mergeReply, runAttempt } from '../online.ts'
import type { SecretCache } from '../secret-cache.ts'
import { postLogin } from '../server.ts'
import { findStashByApp, findStashById, importChildLogin, parseStashFile, replaceStash } from '../stash.ts'
import type { Stashes } from '../stashes.ts'
import { credentialsOf, openLoginTree } from '../tree.ts'

/** A login that another device handed over; nothing of it is proven but its shape. */
export interface ReceivedLogin {
  /** The whole tree as it was sent; its root is the account. */
  readonly sent: LoginStash
  /** Base64; of the login that was asked for. */
  readonly loginId: LoginId
  readonly loginKey: Secret<Uint8Array>
}

/** The request that a reply answers. */
export interface ReplyKey {
  readonly privateKey: Secret<Uint8Array>
  readonly appId: string
}

/**
 * Opens a reply to a login request (protocol §2.7, §4.7).
 *
 * @throws APP_ID_NOT_FOUND if the account that was handed over has no login of the app
 * @throws BAD_REPLY, LOBBY_INTEGRITY, BAD_USERNAME, SyntaxError, TypeError and the failures of boxes: anybody who
 * knows the lobby can reply, so that these say nothing of the replies that follow
 */
export const openEdgeReply = (
  io: Pick<Io, 'crypto'>,
  { privateKey, appId }: ReplyKey,
  reply: unknown
): ReceivedLogin => {
  const answer = privateKey.use(key => openLobbyReply(io, key, reply))
  const { loginKey, loginStash } = parseEdgeLoginReply(answer)
  const sent = parseStashFile(io, JSON.stringify(loginStash))
  const node = findStashByApp(sent, appId)
  if (node === undefined) throw new WalletError('APP_ID_NOT_FOUND', { appId })
  return { sent, loginId: node.loginId, loginKey: new Secret(io.crypto.fromBase64(loginKey)) }
}

/** The voucher that the server gave a device whose code it refused. `voucherAuth`: base64. */
interface Voucher {
  readonly voucherId: string
  readonly voucherAuth: string
}

/** A login that was handed over, and the request that waits for one. */
export interface AcceptLoginOptions {
  readonly received: ReceivedLogin
  /** Of refused codes, by base64 login id; gains one when a code is refused. */
  readonly vouchers: Map<string, Voucher>
  /** Throws if the login is not wanted any more. */
  readonly checkWanted: () => void
  /** Called with the username when the server has confirmed the login, before anything is kept. */
  readonly verified: (username: string | undefined) => void
}

/**
 * Logs in with what another device handed over, and keeps it on this device (protocol §4.7).
 *
 * The key must open the login and the server must know it; only then it joins what this device has of the account.
 * A failure before that leaves nothing on this device, as anyone who sees a lobby can reply.
 *
 * @throws KEY_INTEGRITY if this device knows another login of the app, the key is that of another login, or an account
 * that was handed over whole does not have the name that came with it
 * @throws OTP after its voucher is noted, so that a second reply to the same request can use it
 * @throws what the server answers, LOST_CHILDREN, BAD_REPLY, NO_AUTH_METHODS, STORAGE_FULL, failures of boxes
 */
export const acceptLogin = (
  services: LoginServices,
  stashes: Stashes,
  { received, vouchers, checkWanted, verified }: AcceptLoginOptions
): Promise<Login> =>
  runAttempt(services, 'edge', async ({ stage, secrets }) => {
    const { loginId, loginKey } = received
    const rootId = received.sent.loginId
    secrets.add(loginKey)
    stage('asking')
    const importChild = (known: LoginStash | undefined): LoginStash =>
      withVoucher(importReceived(known, received), vouchers)
    const payload = await fetchReceived(services, importChild(stashes.get(rootId)), {
      received,
      secrets,
      vouchers
    })
    await checkName(services.io, received, payload)
    stashes.checkNameFree(received.sent)
    checkWanted()
    stage('opening')
    const merge = (known: LoginStash | undefined): LoginStash =>
      mergeReply(services.io, importChild(known), { payload, loginKey, secrets })
    verified(merge(stashes.get(rootId)).username)
    await stashes.update(rootId, known => {
      checkWanted()
      return { ...merge(known), lastLogin: isoOf(services.io.clock.now()) }
    })
    return new Login(services, stashes, { rootId, loginId, loginKey, secrets, isCurrent: true })
  })

interface FetchReceivedOptions extends Pick<AcceptLoginOptions, 'received' | 'vouchers'> {
  readonly secrets: SecretCache
}

const fetchReceived = async (
  services: LoginServices,
  stash: LoginStash,
  { received, secrets, vouchers }: FetchReceivedOptions
): Promise<LoginPayload> => {
  const { io } = services
  const node = findStashById(stash, received.loginId) ?? stash
  const tree = openLoginTree({ io, secrets, report: () => {} }, node, received.loginKey)
  try {
    return await postLogin(services, { ...deviceFields(io, node), ...credentialsOf(io, tree) })
  } catch (error) {
    if (isWalletError(error, 'OTP')) {
      const { voucherId, voucherAuth } = error.details
      if (voucherId !== undefined && voucherAuth !== undefined) {
        vouchers.set(node.loginId, { voucherId, voucherAuth })
      }
    }
    throw error
  }
}

const withVoucher = (stash: LoginStash, vouchers: ReadonlyMap<string, Voucher>): LoginStash =>
  [...vouchers].reduce(
    (tree, [loginId, voucher]) => replaceStash(tree, loginId, node => ({ ...node, ...voucher })),
    stash
  )

/**
 * Hazard: people know by the name whose account they were let in to. That of a root login has left its trace in the
 * user id; the name above the login of an app is what the other device says.
 */
const checkName = async (
  io: Pick<Io, 'crypto'>,
  { sent, loginId }: ReceivedLogin,
  { userId = loginId }: LoginPayload
): Promise<void> => {
  const { username } = sent
  if (sent.loginId !== loginId || username === undefined) return
  if (io.crypto.toBase64(await userIdOf(io, username)) === userId) return
  throw new WalletError('KEY_INTEGRITY', { rule: 'the account has another name than the other device says' })
}

/**
 * Hazard: the device that replies names the account. A login beside the one that this device has for the app would
 * lock its owner out, since one app has one login.
 */
const importReceived = (known: LoginStash | undefined, { sent, loginId }: ReceivedLogin): LoginStash => {
  const appId = findStashById(sent, loginId)?.appId ?? ''
  const rival = known && findStashByApp(known, appId)
  if (rival !== undefined && rival.loginId !== loginId) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'this device has another login of the app' })
  }
  return importChildLogin(known, sent, loginId)
}

import { compact } from '../base/compact.ts'
import { failureLine, isWalletError, WalletError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import { isoOf } from '../base/time.ts'
import { sealBox } from '../crypto/box.ts'
import { base58Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { Services } from '../plugins/services.ts'
import { parseLoginPayload } from '../schema/login.ts'
import type { LoginId, Username } from '../types/ids.ts'
import type { LoginPayload, LoginStash } from '../types/login.ts'
import type { LoginSnapshot } from '../types/snapshots.ts'
import type { LoginChange } from './changes.ts'
import { normalizeOtpKey, otpCodeOf } from './derive.ts'
import {
  applyLoginPayload,
  isKeyOf,
  type PayloadOptions,
  type ReplyWithKey,
  verifiedNameOf
} from './payload.ts'
import type { LoginIds, OtpKeyOpeners } from './saved-otp-keys.ts'
import { SecretCache } from './secret-cache.ts'
import { boxNameOf } from './secret-uses.ts'
import {
  encodeLoginRequest,
  type LoginCredentials,
  type LoginRequest,
  loginFetch,
  postLogin,
  postSecret
} from './server.ts'
import { findStashById, isComplete, isSameStash, makeEmptyStash, patchStash, replaceStash } from './stash.ts'
import { type Stashes, saveVoucher } from './stashes.ts'
import { openLoginTree } from './tree.ts'
import { recordVerifiedKeys } from './verified-keys.ts'

/** The services that logging in needs. */
export type LoginServices = Pick<Services, 'io' | 'config' | 'hooks' | 'logOf' | 'report' | 'inBackground'>

/** The options that a person may give besides the credential. */
export interface LoginOptions {
  /** A six-digit code. */
  readonly otp?: string | undefined
  /** The two-factor key itself, in base32. */
  readonly otpKey?: string | undefined
  /** Of a CAPTCHA that was solved. */
  readonly challengeId?: string | undefined
  /** The date that the login counts as its own; the present by default. */
  readonly now?: Date | undefined
}

/** A login on the server. */
export interface OnlineLoginOptions extends LoginOptions {
  /** The root login as it was found, perhaps empty. */
  readonly stash: LoginStash
  /** The login within it that logs in. */
  readonly node: LoginStash
  readonly credentials: LoginCredentials
  /** Keeps what is opened on the way. */
  readonly secrets: SecretCache
  /**
   * A refresh keeps the date of the last login, and drops a reply that may be older than what the device knows by now:
   * `isCurrent` is false then.
   */
  readonly isRefresh?: boolean
  /** The code alone must do: the voucher of this device is neither sent nor replaced. */
  readonly isWithoutVoucher?: boolean
  /** Opens the two-factor keys that this device has kept, for a server that asks for a code. */
  readonly openers?: OtpKeyOpeners
}

/** A login whose key is in hand. */
export interface OpenedLogin {
  /** Base64 id of the root login. */
  readonly rootId: LoginId
  /** Base64 id of the login whose key it is. */
  readonly loginId: LoginId
  readonly loginKey: Secret<Uint8Array>
  readonly secrets: SecretCache
  /** True if the stash is as the server has it now. */
  readonly isCurrent: boolean
}

/** The reply of the server to a login. */
export interface FetchedLogin {
  readonly login: OnlineLoginOptions
  readonly payload: LoginPayload
  /** Made the code that the server took; undefined for a code as typed, and for none. */
  readonly otpKey: string | undefined
}

/**
 * Sends credentials to the login server (protocol §4.5): the first of two steps that all methods and the refresh share.
 * The second one is {@link saveLogin}, with the key that the caller takes out of the reply.
 *
 * @throws OTP after the ids and the voucher that it names are saved
 * @throws BAD_REPLY if the reply is about another user, and what the server answers
 */
export const fetchLogin = async (
  services: LoginServices,
  stashes: Stashes,
  login: OnlineLoginOptions
): Promise<FetchedLogin> => {
  const fetched = { login, ...(await requestLogin(services, stashes, login)) }
  checkUserId(services.io, login.credentials, fetched.payload)
  return fetched
}

/**
 * Merges a reply into the stash, opens it and only then saves it, so that a bad one leaves the stash as it was.
 *
 * A login without a `loginAuth` is given one.
 *
 * @throws LOST_CHILDREN, KEY_INTEGRITY, BAD_REPLY and the failures of boxes and disks
 */
export const saveLogin = async (
  services: LoginServices,
  stashes: Stashes,
  fetched: FetchedLogin,
  loginKey: Secret<Uint8Array>
): Promise<OpenedLogin> => {
  const { login, payload, otpKey } = fetched
  const username = await nameOf(services.io, login.stash, { payload, loginKey })
  const reply: Reply = { ...fetched, loginKey, username }
  const rootId = rootIdOf(services.io, reply)
  const isCurrent = await saveReply(services, stashes, reply)
  if (otpKey !== undefined && payload.otpTimeout !== undefined) {
    await saveOtpKey(services, stashes, { rootId, loginId: payload.loginId, otpKey, loginKey })
  }
  await removeEmptyStash(services, stashes, { stash: login.stash, rootId })
  if (payload.loginAuthBox === undefined && isCurrent) {
    try {
      await merge(services, stashes, { ...reply, payload: await addLoginAuth(services, reply) })
    } catch (error) {
      // The password still logs in; the next login tries again.
      services
        .logOf('login')
        .warn(failureLine('Could not create the login secret; the next login tries again', error))
    }
  }
  return { rootId, loginId: payload.loginId, loginKey, secrets: login.secrets, isCurrent }
}

/** Returns the fields of a request that describe the device: its code and its voucher (protocol §1.6, §2.5). */
export const deviceFields = (io: Io, node: LoginStash, options: LoginOptions = {}): LoginRequest => ({
  otp: options.otp ?? otpCodeOf(io, options.otpKey) ?? otpCodeOf(io, node.otpKey),
  voucherId: node.voucherId,
  voucherAuth: node.voucherAuth === undefined ? undefined : io.crypto.fromBase64(node.voucherAuth)
})

/** A reply of the server, and what it takes to see whether it can be opened. */
export interface MergeReplyOptions extends Omit<PayloadOptions, 'loginKey'> {
  readonly loginKey: Secret<Uint8Array>
  readonly secrets: SecretCache
}

/**
 * The stash with a reply merged in, after a look at whether it opens: only then may it be saved.
 *
 * @throws LOST_CHILDREN, KEY_INTEGRITY, BAD_REPLY, NO_AUTH_METHODS and the failures of boxes
 */
export const mergeReply = (
  io: Io,
  base: LoginStash,
  { loginKey, secrets, ...reply }: MergeReplyOptions
): LoginStash => {
  const merged = loginKey.use(key => applyLoginPayload(io, base, { ...reply, loginKey: key }))
  const node = findStashById(merged, reply.payload.loginId) ?? merged
  openLoginTree({ io, secrets, report: () => {} }, node, loginKey)
  recordVerifiedKeys(io, secrets, { payload: reply.payload, loginKey })
  return merged
}

/** A two-factor key that the server has just taken, and the login that it let in. */
export interface VerifiedOtpKey extends LoginIds {
  readonly otpKey: string
  readonly loginKey: Secret<Uint8Array>
}

/** Keeps a two-factor key that has worked, so that no reply of a server can take it away. */
export const saveOtpKey = async (
  { io }: Pick<LoginServices, 'io'>,
  stashes: Stashes,
  { otpKey, loginKey, ...kept }: VerifiedOtpKey
): Promise<void> => {
  const root = stashes.get(kept.rootId)
  const { pin2Key, recovery2Key } = (root && findStashById(root, kept.loginId)) ?? {}
  const bytesOf = (text: string | undefined): Uint8Array | undefined =>
    text === undefined ? undefined : io.crypto.fromBase64(text)
  const copy = loginKey.use(key => key.slice())
  try {
    const openers = { loginKey: copy, pin2Key: bytesOf(pin2Key), recovery2Key: bytesOf(recovery2Key) }
    await stashes.otpKeys.save(kept, otpKey, openers)
  } finally {
    copy.fill(0)
  }
}

interface Reply extends FetchedLogin {
  readonly loginKey: Secret<Uint8Array>
  readonly username: Username | undefined
}

type Answer = Pick<FetchedLogin, 'payload' | 'otpKey'>

const requestLogin = async (
  services: LoginServices,
  stashes: Stashes,
  login: OnlineLoginOptions
): Promise<Answer> => {
  const { node, credentials, challengeId, isWithoutVoucher } = login
  const { otp, ...voucher } = deviceFields(services.io, node, login)
  const device = isWithoutVoucher === true ? { otp } : { otp, ...voucher }
  const request = { challengeId, ...device, ...credentials }
  const otpKey = login.otp === undefined ? (login.otpKey ?? node.otpKey) : undefined
  try {
    return { payload: await postLogin(services, request), otpKey: otpKey && normalizeOtpKey(otpKey) }
  } catch (error) {
    if (isWithoutVoucher !== true) await saveVoucher(services, stashes, login, error)
    const isTyped = login.otp !== undefined || login.otpKey !== undefined
    if (isTyped || !isWalletError(error, 'OTP')) throw error
    return retryWithSavedOtpKeys(services, stashes, { login, request, error })
  }
}

interface RefusedCode {
  readonly login: OnlineLoginOptions
  readonly request: LoginRequest
  readonly error: WalletError<'OTP'>
}

/** A server that once left the key out, or is honest again, asks for a code that the stash cannot make. */
const retryWithSavedOtpKeys = async (
  services: LoginServices,
  stashes: Stashes,
  { login, request, error }: RefusedCode
): Promise<Answer> => {
  const { stash, node, openers = {} } = login
  const kept: LoginIds = { rootId: stash.loginId, loginId: node.loginId }
  const tried = node.otpKey === undefined ? undefined : normalizeOtpKey(node.otpKey)
  for (const otpKey of await stashes.otpKeys.find(kept, openers)) {
    if (otpKey === tried) continue
    try {
      const payload = await postLogin(services, { ...request, otp: otpCodeOf(services.io, otpKey) })
      return { payload, otpKey }
    } catch (failure) {
      if (!isWalletError(failure, 'OTP')) throw failure
      stashes.otpKeys.refuse(kept, otpKey)
    }
  }
  throw error
}

/** Checks that a request by name was answered with the account of that name. */
const checkUserId = (io: Io, credentials: LoginCredentials, { userId }: LoginPayload): void => {
  if (credentials.userId === undefined || userId === undefined) return
  if (io.crypto.toBase64(credentials.userId) === userId) return
  throw new WalletError('BAD_REPLY', { source: 'login reply', path: 'userId', rule: 'is another login' })
}

/** A refused code may have named an id that the account does not have; nothing but a voucher was kept under it. */
const removeEmptyStash = async (
  { io, report }: LoginServices,
  stashes: Stashes,
  { stash, rootId }: { readonly stash: LoginStash; readonly rootId: LoginId }
): Promise<void> => {
  const { loginId, children = [] } = stash
  if (loginId === '' || loginId === rootId) return
  // A device that was let in to an app has nothing of the root, and below it the login of that app.
  if (isComplete(stash) || children.length > 0) return
  await stashes.remove(base58Of(io.crypto.fromBase64(loginId))).catch(error => report('login', error))
}

/** The name that was typed to log in on a new device, or the one that the login itself keeps. */
const nameOf = async (
  io: Io,
  { loginId, username }: LoginStash,
  reply: ReplyWithKey
): Promise<string | undefined> =>
  loginId === '' && username !== undefined ? username : await verifiedNameOf(io, reply, username)

/**
 * The account of the reply: the one that asked, or for a name that moved on, the one that has it now.
 *
 * A login keeps its id for life, so another id must come with another key.
 */
const rootIdOf = (io: Io, { login, payload, loginKey }: Reply): string => {
  const { stash, node } = login
  if (login.isRefresh === true || findStashById(stash, payload.loginId) !== undefined) return stash.loginId
  if (loginKey.use(key => isKeyOf(io, node, key)) === true) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the server gave a known login another id' })
  }
  return payload.loginId
}

/** Merges a reply unless another login on this device has saved news meanwhile; returns true if it merged. */
const saveReply = async (services: LoginServices, stashes: Stashes, reply: Reply): Promise<boolean> => {
  const { stash, isRefresh } = reply.login
  let isCurrent = true
  await merge(services, stashes, reply, present => {
    isCurrent = isRefresh !== true || present === undefined || isSameAccount(present, stash)
    return isCurrent
  })
  return isCurrent
}

const isSameAccount = (present: LoginStash, requested: LoginStash): boolean => {
  const { lastLogin: _, ...presentRest } = present
  const { lastLogin: __, ...requestedRest } = requested
  return present === requested || isSameStash(presentRest, requestedRest)
}

const merge = async (
  services: LoginServices,
  stashes: Stashes,
  reply: Reply,
  isWanted: (present: LoginStash | undefined) => boolean = () => true
): Promise<void> => {
  const { login, payload, loginKey, username } = reply
  const { secrets, credentials, isRefresh } = login
  const isPasswordVerified = isRefresh !== true && credentials.passwordAuth !== undefined
  const rootId = rootIdOf(services.io, reply)
  await stashes.update(rootId, present => {
    if (!isWanted(present)) return present
    const base = present ?? { ...makeEmptyStash(login.stash.username), loginId: rootId }
    const applied = mergeReply(services.io, withUsedOtpKey(base, reply), {
      payload,
      loginKey,
      secrets,
      username,
      isPasswordVerified: isPasswordVerified,
      onInvalid: error =>
        services.logOf('login').warn(failureLine('Ignored invalid data for a child login', error))
    })
    const next =
      isRefresh === true
        ? applied
        : { ...applied, lastLogin: isoOf(login.now?.getTime() ?? services.io.clock.now()) }
    const isSame = present !== undefined && isSameStash(next, present)
    return isSame && next.syncToken === present.syncToken ? present : next
  })
}

/** A code key that has just logged in is kept where the server does not show its own. */
const withUsedOtpKey = (base: LoginStash, { payload, otpKey }: Reply): LoginStash => {
  if (otpKey === undefined || payload.otpKey !== true) return base
  return replaceStash(base, payload.loginId, node => ({ ...node, otpKey }))
}

const addLoginAuth = async (services: LoginServices, { login, loginKey }: Reply): Promise<LoginPayload> => {
  const { io } = services
  const loginAuth = io.random(32)
  const loginAuthBox = loginKey.use(key => sealBox(io, key, loginAuth))
  const payload = await postSecret(services, {
    ...deviceFields(io, login.node, login),
    ...login.credentials,
    data: { loginAuth: io.crypto.toBase64(loginAuth), loginAuthBox: { ...loginAuthBox } }
  })
  // Hazard: what is in another box would be sent to the server with the next request.
  if (payload.loginAuthBox === undefined || boxNameOf(payload.loginAuthBox) !== boxNameOf(loginAuthBox)) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the server keeps another loginAuth than it was given' })
  }
  return payload
}

/** A login attempt that runs. */
export interface Attempt {
  /** Calls the `loginChanged` hook. */
  readonly stage: (stage: 'deriving' | 'asking' | 'opening') => void
  /** Keeps what the attempt opens; destroyed if it fails. */
  readonly secrets: SecretCache
}

/** Runs one login attempt and calls the `loginChanged` hook at each stage, the last being `ready` or `failed`. */
export const runAttempt = async <T>(
  { io, hooks }: Pick<Services, 'io' | 'hooks'>,
  method: LoginSnapshot['method'],
  run: (attempt: Attempt) => Promise<T>
): Promise<T> => {
  const attemptId = io.crypto.toHex(io.random(8))
  const emit = (stage: LoginSnapshot['stage'], errorCode?: string): void =>
    hooks.loginChanged.call(Object.freeze({ attemptId, method, stage, ...compact({ errorCode }) }))
  const secrets = new SecretCache(io)
  try {
    const result = await run({ stage: emit, secrets })
    emit('ready')
    return result
  } catch (error) {
    secrets.destroy()
    emit('failed', isWalletError(error) ? error.code : undefined)
    throw error
  }
}

/** Remembers the date of a login; the login stands if the disk does not take it. */
export const saveLoginDate = async (
  services: Pick<LoginServices, 'io' | 'report'>,
  stashes: Stashes,
  { rootId, now }: { readonly rootId: LoginId; readonly now: Date | undefined }
): Promise<void> => {
  const lastLogin = isoOf(now?.getTime() ?? services.io.clock.now())
  try {
    await stashes.update(rootId, stash => stash && { ...stash, lastLogin })
  } catch (error) {
    services.report('login', error)
  }
}

/** A change on its way to the server, and the login that it changes. */
export interface SentChange {
  readonly change: LoginChange
  readonly request: LoginRequest
  /** The whole stash, and the login within it. */
  readonly stash: LoginStash
  readonly node: LoginStash
}

/**
 * Sends a change to the server, and gives its answer where that is the login as it is now.
 *
 * @throws OTP after the voucher that it names is saved; what the server answers
 */
export const sendChange = async (
  services: Pick<Services, 'io' | 'config' | 'report'>,
  stashes: Stashes,
  { change, request, stash, node }: SentChange
): Promise<LoginPayload | undefined> => {
  const { intent } = change
  if (intent !== undefined) {
    const { loginId } = node
    await stashes.update(stash.loginId, root => root && patchStash(root, loginId, { loginId, stash: intent }))
  }
  try {
    const body = encodeLoginRequest(services.io, request)
    const results = await loginFetch(services, change.serverMethod, change.serverPath, body)
    return change.keepsReply === true ? parseLoginPayload(results) : undefined
  } catch (error) {
    if (change.alreadyDoneCode !== undefined && isWalletError(error, change.alreadyDoneCode)) return undefined
    await saveVoucher(services, stashes, { stash, node, isRefresh: true }, error)
    throw error
  }
}

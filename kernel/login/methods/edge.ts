import { compact } from '../../base/compact.ts'
import { failureLine, isWalletError, WalletError } from '../../base/errors.ts'
import { isSameJson } from '../../base/json.ts'
import { Observable, type Readable } from '../../base/observable.ts'
import { Poller } from '../../base/poller.ts'
import { Secret } from '../../base/secret.ts'
import { base58Of, utf8Of } from '../../crypto/encoding.ts'
import { lobbyIdOf, makeLobbyKeys } from '../../crypto/lobby-key.ts'
import type { LobbyContent } from '../../schema/lobby.ts'
import type { LoginId } from '../../types/ids.ts'
import type { LobbySnapshot } from '../../types/snapshots.ts'
import { deleteLobby, getLobby, putLobby } from '../lobby.ts'
import type { Login } from '../login.ts'
import type { LoginServices } from '../online.ts'
import type { Stashes } from '../stashes.ts'
import { type AcceptLoginOptions, acceptLogin, openEdgeReply } from './edge-reply.ts'

/** The options of a login request. */
export interface EdgeLoginOptions {
  /** How long it waits for an approval, from 1 second to a day; 600 if left out. */
  readonly timeoutSeconds?: number
}

/** The options of a login request, and the way to open the account that is handed over. */
export interface EdgeLoginRequestOptions<Account> extends EdgeLoginOptions {
  /** Opens the account of the login. `isWanted`: false once the request was cancelled. */
  open(login: Login, isWanted: () => boolean): Promise<Account>
}

/**
 * Asks the devices of an account, whichever it may be, to let this one in (protocol §4.7).
 *
 * The request is on the server when this resolves; the user passes its `lobbyId` to the other device, such as by a QR code.
 *
 * @throws OPTION_INVALID for a time that is none; NETWORK and what the server answers
 */
export const requestEdgeLogin = async <Account>(
  services: LoginServices,
  stashes: Stashes,
  plan: EdgeLoginRequestOptions<Account>
): Promise<EdgeLoginRequest<Account>> => {
  const { io, config } = services
  const timeoutSeconds = checkTimeout(plan.timeoutSeconds)
  const keys = makeLobbyKeys(io)
  const privateKey = new Secret(keys.privateKey)
  const lobbyId = lobbyIdOf(io, keys.publicKey)
  try {
    const publicKey = io.crypto.toBase64(keys.publicKey)
    const loginRequest = { appId: config.appId }
    await putLobby(services, lobbyId, { loginRequest, publicKey, timeout: timeoutSeconds })
  } catch (error) {
    privateKey.destroy()
    throw error
  }
  return new EdgeLoginRequest(services, stashes, { plan, lobbyId, timeoutSeconds, privateKey })
}

/**
 * A login request that waits for another device (specification §4).
 *
 * It begins as pending and looks for replies every second. While the server cannot be reached, it goes on and shows the
 * failure as `errorCode`. Anyone who has seen the lobby's id can reply, so a reply that fails in any way is skipped,
 * counted and shown, and leaves nothing on this device. The first one that the server confirms makes the request
 * started, with the username and before anything is kept; the open account makes it done. It ends as error when
 * its time is over, the server has lost the lobby or this device fails, and as closed by `cancel`.
 *
 * Hazard: anyone who sees the lobby's id can hand over an account, also one of their own. Show the username
 * before the account is used.
 *
 * @example
 * ```ts
 * const request = await context.requestEdgeLogin({ timeoutSeconds: 120 })
 * request.subscribe(() => console.log(request.getSnapshot().state, request.getSnapshot().username))
 * const account = await request.account
 * ```
 */
export class EdgeLoginRequest<Account> implements Readable<LobbySnapshot> {
  /** Resolves once the account is open; rejects when the request ends in any other way. */
  readonly account: Promise<Account>
  readonly #services: LoginServices
  readonly #stashes: Stashes
  readonly #parts: RequestOptions<Account>
  readonly #state: Observable<LobbySnapshot>
  readonly #poller: Poller
  readonly #stopTimer: () => void
  readonly #vouchers: AcceptLoginOptions['vouchers'] = new Map()
  #isTimeOver = false
  /** By the monotonic clock. */
  readonly #endsAt: number
  /** Why replies lead nowhere, by their hashes. */
  readonly #refused = new Map<string, unknown>()
  #resolve: (account: Account) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(services: LoginServices, stashes: Stashes, parts: RequestOptions<Account>) {
    this.#services = services
    this.#stashes = stashes
    this.#parts = parts
    this.#state = new Observable<LobbySnapshot>(
      { lobbyId: parts.lobbyId, state: 'pending' },
      snapshot => services.hooks.lobbyChanged.call(snapshot),
      error => services.report('edge login', error)
    )
    this.account = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A screen may follow the snapshot alone.
    this.account.catch(() => {})
    const { clock } = services.io
    this.#poller = new Poller({
      clock,
      gapMs: POLL_MS,
      task: () => this.#poll(),
      onError: error => this.#showFailure(error)
    })
    this.#endsAt = clock.monotonic() + parts.timeoutSeconds * 1000
    this.#stopTimer = clock.after(parts.timeoutSeconds * 1000, () => {
      this.#isTimeOver = true
      this.#failIfOver()
    })
    services.hooks.lobbyChanged.call(this.getSnapshot())
    this.#poller.start()
    void this.#poller.runNow()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): LobbySnapshot => this.#state.getSnapshot()

  /** The id that the other device needs, base58. */
  get lobbyId(): string {
    return this.#parts.lobbyId
  }

  /** Ends the request; replies that come later are ignored. Nothing once it has ended. */
  cancel(): void {
    if (this.#isOver) return
    this.#stop()
    this.#state.update({ state: 'closed' })
    this.#reject(new WalletError('EDGE_LOGIN_CLOSED', {}))
    // So that the other device sees at once that the request has ended; the lobby would also expire.
    deleteLobby(this.#services, this.lobbyId).catch(() => {})
  }

  get #isOver(): boolean {
    return !['pending', 'started'].includes(this.getSnapshot().state)
  }

  get #isPending(): boolean {
    return this.getSnapshot().state === 'pending'
  }

  async #poll(): Promise<void> {
    // An account that is being opened may yet fail to.
    if (!this.#isPending) return
    const { replies } = await this.#fetchLobby()
    let failure: unknown
    for (const reply of replies) {
      if (!this.#isPending) return
      const hash = this.#hashOf(reply)
      const refusal = this.#refused.get(hash)
      failure = refusal ?? (await this.#tryReply(reply, hash)) ?? failure
    }
    this.#showFailure(failure)
  }

  async #fetchLobby(): Promise<LobbyContent> {
    try {
      return await getLobby(this.#services, this.lobbyId)
    } catch (error) {
      // The server forgets the lobby when the request is over, perhaps a moment before our own clock says so.
      const isEnding = this.#services.io.clock.monotonic() > this.#endsAt - ENDING_MS
      if (isWalletError(error, 'LOBBY_NOT_FOUND')) {
        this.#fail(isEnding ? new WalletError('EDGE_LOGIN_EXPIRED', {}) : error)
      }
      throw error
    }
  }

  /** Logs in with a reply, or returns why it cannot. */
  async #tryReply(reply: unknown, hash: string): Promise<unknown> {
    const { io, config } = this.#services
    let rootId: LoginId | undefined
    let isKnown = true
    let failure: unknown
    try {
      const received = openEdgeReply(io, { privateKey: this.#parts.privateKey, appId: config.appId }, reply)
      rootId = received.sent.loginId
      isKnown = this.#stashes.get(rootId) !== undefined
      const login = await acceptLogin(this.#services, this.#stashes, {
        received,
        vouchers: this.#vouchers,
        checkWanted: () => this.#checkWanted(),
        verified: username => this.#start(username)
      })
      const account = await this.#parts.plan.open(login, () => !this.#isOver)
      if (!this.#isOver) {
        this.#stop()
        this.#state.update({ state: 'done' })
        this.#resolve(account)
        return undefined
      }
    } catch (error) {
      failure = error
    }
    if (rootId !== undefined && !isKnown) await this.#removeUnopened(rootId)
    if (failure !== undefined) this.#skip(failure, hash)
    return failure
  }

  /** A reply that fails ends the request only where every other one would fail, too. */
  #skip(error: unknown, hash: string): void {
    const isFinal = isWalletError(error) && FINAL.has(error.code)
    if (isFinal) this.#fail(error)
    if (!isWalletError(error) || !error.retryable) this.#refused.set(hash, error)
    if (this.#isOver) return
    const { lobbyId } = this
    const errorCode = codeOf(error) ?? 'BAD_REPLY'
    const snapshot: LobbySnapshot = { lobbyId, state: 'pending', errorCode, ...skippedOf(this.#refused.size) }
    if (!isSameJson(snapshot, this.getSnapshot())) {
      this.#services.logOf('edge login').warn(failureLine('Skipped a reply to a login request', error))
      this.#state.set(snapshot)
    }
    this.#failIfOver()
  }

  /** Removes the account of a reply that came to nothing, if it was not on this device before. */
  async #removeUnopened(rootId: LoginId): Promise<void> {
    if (this.#stashes.get(rootId) === undefined) return
    try {
      await this.#stashes.remove(base58Of(this.#services.io.crypto.fromBase64(rootId)))
    } catch (error) {
      this.#services.report('edge login', error)
    }
  }

  #start(username: string | undefined): void {
    const { lobbyId } = this
    const skipped = skippedOf(this.#refused.size)
    this.#state.set({
      lobbyId,
      state: 'started',
      ...compact({ username }),
      ...skipped
    })
  }

  #checkWanted(): void {
    if (this.#isOver) throw new WalletError('EDGE_LOGIN_CLOSED', {})
  }

  /** An account that is being opened when the time is over may still become the one. */
  #failIfOver(): void {
    if (this.#isTimeOver && this.#isPending) this.#fail(new WalletError('EDGE_LOGIN_EXPIRED', {}))
  }

  /** Shows what keeps the request waiting, if anything does. */
  #showFailure(failure: unknown): void {
    const { errorCode, ...snapshot } = this.getSnapshot()
    const code = failure === undefined ? undefined : (codeOf(failure) ?? 'BAD_REPLY')
    if (!this.#isPending || code === errorCode) return
    if (code !== undefined) {
      this.#services.logOf('edge login').warn(failureLine('The login request is still waiting', failure))
    }
    this.#state.set({ ...snapshot, ...compact({ errorCode: code }) })
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#stop()
    const errorCode = codeOf(error)
    this.#state.update({ state: 'error', ...compact({ errorCode }) })
    this.#reject(error)
  }

  /** Looks for no more replies. */
  #stop(): void {
    void this.#poller.stop()
    this.#stopTimer()
    this.#parts.privateKey.destroy()
  }

  #hashOf(reply: unknown): string {
    const { crypto } = this.#services.io
    return crypto.toHex(crypto.sha256(utf8Of(JSON.stringify(reply))))
  }
}

interface RequestOptions<Account> {
  readonly plan: EdgeLoginRequestOptions<Account>
  readonly lobbyId: string
  readonly timeoutSeconds: number
  readonly privateKey: Secret<Uint8Array>
}

const POLL_MS = 1000

/** A lobby that is gone so shortly before the end of its request has expired. */
const ENDING_MS = 1000

/** Seconds (specification §9). */
const DEFAULT_TIMEOUT = 600

/** Seconds; timers count no longer than some weeks. */
const MAX_TIMEOUT = 86_400

const checkTimeout = (seconds: number = DEFAULT_TIMEOUT): number => {
  if (typeof seconds === 'number' && seconds >= 1 && seconds <= MAX_TIMEOUT) return seconds
  throw new WalletError('OPTION_INVALID', { option: 'timeoutSeconds', rule: 'must be 1 second to 1 day' })
}

/** Faults of this device, which no reply can cause and no later one can mend. */
const FINAL: ReadonlySet<string> = new Set([
  'API_KEY_INVALID',
  'CONTEXT_CLOSED',
  'OBSOLETE_API',
  'PLUGINS_MISSING',
  'STORAGE_FULL',
  'STORAGE_FAILED',
  'STORAGE_TIMEOUT'
])

const skippedOf = (count: number): Pick<LobbySnapshot, 'skippedReplies'> =>
  count === 0 ? {} : { skippedReplies: count }

const codeOf = (error: unknown): string | undefined => (isWalletError(error) ? error.code : undefined)

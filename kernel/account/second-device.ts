import { schnorr } from '@noble/curves/secp256k1.js'
import { isNativeAmount } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { failureLine, isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, isShortText, parseJsonText } from '../base/json.ts'
import { Poller } from '../base/poller.ts'
import { openJson, sealJson } from '../crypto/box.ts'
import { utf8Of } from '../crypto/encoding.ts'
import { lobbyIdOf, makeLobbyKeys } from '../crypto/lobby-key.ts'
import {
  deleteLobby,
  getLobby,
  openLobbyReply,
  postLobbyReply,
  putLobby,
  sealLobbyReply
} from '../login/lobby.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import type { BulkStore } from '../repo/store/bulk.ts'
import type { LobbyRequest } from '../schema/lobby.ts'
import type { WalletId } from '../types/ids.ts'
import type { ApprovingDevice, PaymentApproval } from '../types/policy.ts'
import type { Transaction } from '../types/transaction.ts'
import { checkEngineTransaction } from '../wallet/engine/validate.ts'
import { frozenTransaction } from '../wallet/spend/reviewed-transaction.ts'

/** A payment that a device of the account is asked about, or approves. */
export interface PaymentToApprove {
  readonly walletId: WalletId
  /** The draft that will be signed. */
  readonly tx: Transaction
  /** The name of the program that asks for it; left out: a person does. */
  readonly requestedBy?: string | undefined
}

/** A payment with the approval that it may have. */
interface ApprovedPayment extends PaymentToApprove {
  readonly approval?: PaymentApproval | undefined
}

/**
 * A payment that waits for the yes of another device.
 *
 * @example
 * ```ts
 * import type { Transaction } from 'holdfast'
 *
 * declare const draft: Transaction
 * const request = await account.policies.requestApproval(draft, { timeoutSeconds: 120 })
 * console.log(request.lobbyId, request.approvers.map(({ name }) => name))
 * const approval = await request.answer
 * ```
 */
export interface ApprovalRequest {
  /** Base58; the other device needs it. */
  readonly lobbyId: string
  /** The devices that can approve it. */
  readonly approvers: readonly ApprovingDevice[]
  /** Milliseconds since 1970. */
  readonly endsAt: number
  /**
   * Resolves with the approval, for `spend` or `signTx` of the same draft.
   *
   * @throws SIGN_REFUSED after a no, or if nobody has answered in time; SIGN_STOPPED after `cancel`; LOBBY_NOT_FOUND, LOGGED_OUT
   */
  readonly answer: Promise<PaymentApproval>
  /** Withdraws the request. */
  cancel(): void
}

/** The payment of another device, for a person to judge by its draft; nothing of it is proven but that a device of the account asks. */
export interface ApprovalQuestion extends PaymentToApprove {
  readonly lobbyId: string
  /** When the request ends, by the clock of the device that pays; milliseconds since 1970. */
  readonly endsAt: number
  /** The public key of the device that pays. */
  readonly device: string
  /** Sends the signed answer of this device. @throws LOBBY_NOT_FOUND, NETWORK, LOGGED_OUT */
  reply(isApproved: boolean): Promise<void>
}

/** The parts of an account that approvals need. */
export interface SecondDeviceOptions {
  readonly services: Services
  readonly login: Pick<Login, 'checkServer' | 'openState'>
  /** Of the account, encrypted, on this device only. */
  readonly store: BulkStore
  /** The time of the account, in milliseconds since 1970. */
  now(): number
}

/**
 * Approvals of payments by a second device of the account, through a lobby of the login server. The device that pays seals the
 * draft for the devices of the account; the other one signs its answer over the draft, the account, the wallet, the lobby and
 * an end, with a key that never leaves it. An approval is good for that draft only, on the device that asked, and once.
 */
export class SecondDevice {
  readonly #options: SecondDeviceOptions

  constructor(options: SecondDeviceOptions) {
    this.#options = options
  }

  /** The public key with which this device approves, in hex; undefined before it was asked for. */
  get key(): string | undefined {
    const { io } = this.#options.services
    const secret = this.#options.store.get(KEY)
    return secret === undefined ? undefined : io.crypto.toHex(schnorr.getPublicKey(io.crypto.fromHex(secret)))
  }

  /** Returns the public key of this device; makes its key pair at first. @throws STORAGE_FULL, STORAGE_FAILED */
  async ensureKey(): Promise<string> {
    if (this.#options.store.get(KEY) === undefined) {
      const { io } = this.#options.services
      const { privateKey } = makeLobbyKeys(io)
      await this.#options.store.write(new Map([[KEY, io.crypto.toHex(privateKey)]]))
      privateKey.fill(0)
    }
    return this.key ?? ''
  }

  /** Returns the key of the other device that has approved a payment; undefined without its valid approval. */
  approverOf(payment: ApprovedPayment): string | undefined {
    const { approval } = payment
    if (approval === undefined) return undefined
    const { lobbyId, key, endsAt, signature } = approval
    const now = this.#options.now()
    if (!isShortText(lobbyId) || typeof endsAt !== 'number') return undefined
    if (!(endsAt > now && endsAt <= now + MAX_TIMEOUT_S * 1000)) return undefined
    if (key === this.key || this.#options.store.get(REQUESTED + lobbyId) === undefined) return undefined
    const text = this.#answerText('yes', { ...payment, lobbyId, endsAt, draft: draftTextOf(payment.tx) })
    return this.#isSigned(text, { key, signature }) ? key : undefined
  }

  /** Notes durably that the approval of a payment was used: it is good for nothing any more, also after a restart. */
  async spend(payment: ApprovedPayment): Promise<void> {
    const { approval } = payment
    if (approval === undefined || this.approverOf(payment) === undefined) return
    await this.#options.store.write(new Map([[REQUESTED + approval.lobbyId, null]]))
  }

  /** Asks the other devices to approve a payment. @throws OPTION_INVALID, STORAGE_FULL, NETWORK, LOGGED_OUT, … */
  async request(
    payment: PaymentToApprove,
    {
      approvers,
      rule,
      timeoutSeconds = TIMEOUT_S
    }: {
      readonly approvers: readonly ApprovingDevice[]
      readonly rule: string
      readonly timeoutSeconds?: number | undefined
    }
  ): Promise<ApprovalRequest> {
    const { services, now } = this.#options
    const { io } = services
    if (!(timeoutSeconds >= 1 && timeoutSeconds <= MAX_TIMEOUT_S))
      throw new WalletError('OPTION_INVALID', { option: 'timeoutSeconds', rule: 'must be 1 second to 1 day' })
    const device = await this.ensureKey()
    const { privateKey, publicKey } = makeLobbyKeys(io)
    const lobbyId = lobbyIdOf(io, publicKey)
    const endsAt = Math.floor(now()) + timeoutSeconds * 1000
    const draft = draftTextOf(frozenTransaction(payment.tx))
    if (draft.length > MAX_DRAFT)
      throw new WalletError('OPTION_INVALID', { option: 'draft', rule: 'is too long for another device' })
    const { walletId, requestedBy } = payment
    const content = { draft, walletId, device, endsAt, lobbyId, ...compact({ requestedBy }) }
    const paymentRequest = this.#withAccountKey(key => sealJson(io, key, content))
    const publicText = io.crypto.toBase64(publicKey)
    // The lobby outlives the request, so that its end is not taken for a deletion.
    const timeout = timeoutSeconds + LOBBY_LONGER_S
    this.#options.login.checkServer(APPROVAL)
    await this.#noteRequest(lobbyId, endsAt)
    await putLobby(services, lobbyId, { paymentRequest, publicKey: publicText, timeout })
    const waiting = this.#follow({ lobbyId, rule, timeoutSeconds }, reply => {
      const { answer, key, signature } = asAnswer(openLobbyReply(io, privateKey, reply))
      const approver = approvers.find(each => each.key === key && key !== device)
      const text = this.#answerText(answer, { ...content, requestedBy })
      if (approver === undefined || !this.#isSigned(text, { key, signature }))
        throw new WalletError('LOBBY_INTEGRITY', {})
      if (answer === 'no') return approver.name
      return Object.freeze({ lobbyId, key, endsAt, signature })
    })
    void waiting.answer.catch(() => {}).finally(() => privateKey.fill(0))
    return Object.freeze({ lobbyId, approvers, endsAt, ...waiting })
  }

  /** Notes a request durably: an approval is good only where it was asked for, and there once. */
  async #noteRequest(lobbyId: string, endsAt: number): Promise<void> {
    const { store, now } = this.#options
    const writes = new Map<string, string | null>([[REQUESTED + lobbyId, String(endsAt)]])
    for (const [key, until] of store.entries(REQUESTED)) if (Number(until) < now()) writes.set(key, null)
    await store.write(writes)
  }

  /**
   * Reads the payment that another device asks about.
   *
   * @throws LOBBY_NOT_FOUND; LOBBY_INTEGRITY for a request that no device of the account made, or this one did; BOGUS_TX, NETWORK
   */
  async fetch(lobbyId: string): Promise<ApprovalQuestion> {
    const { services } = this.#options
    this.#options.login.checkServer(APPROVAL)
    const { request } = await getLobby(services, lobbyId)
    const question = this.#openQuestion(lobbyId, request)
    const { draft, ...payment } = question
    return Object.freeze({
      ...payment,
      reply: async (isApproved: boolean) => {
        const { io } = services
        const answer = isApproved ? 'yes' : 'no'
        const key = await this.ensureKey()
        const secret = io.crypto.fromHex(this.#options.store.get(KEY) ?? '')
        const digest = io.crypto.sha256(utf8Of(this.#answerText(answer, question)))
        const signature = io.crypto.toHex(schnorr.sign(digest, secret, io.random(32)))
        secret.fill(0)
        await postLobbyReply(services, lobbyId, sealLobbyReply(io, request, { answer, key, signature }))
        services.logOf('rules').info(`Answered ${answer} to the payment request ${lobbyId}`)
      }
    })
  }

  #openQuestion(lobbyId: string, { paymentRequest }: LobbyRequest) {
    const { io } = this.#options.services
    let content: unknown
    try {
      if (paymentRequest === undefined) throw new WalletError('LOBBY_NOT_FOUND', { lobbyId })
      content = this.#withAccountKey(key => openJson(io, key, paymentRequest))
    } catch (error) {
      if (isWalletError(error, 'LOBBY_NOT_FOUND') || isWalletError(error, 'LOGGED_OUT')) throw error
      throw new WalletError('LOBBY_INTEGRITY', {}, error)
    }
    const { draft, device, endsAt, requestedBy, ...rest } = isRecord(content) ? content : {}
    const isWhole =
      typeof draft === 'string' &&
      isShortText(device) &&
      typeof endsAt === 'number' &&
      (requestedBy === undefined || isShortText(requestedBy))
    if (!isWhole || rest.lobbyId !== lobbyId || device === this.key)
      throw new WalletError('LOBBY_INTEGRITY', {})
    const tx = readDraft(draft)
    if (tx.walletId !== rest.walletId) throw new WalletError('LOBBY_INTEGRITY', {})
    const { walletId } = tx
    return { draft, tx, walletId, device, endsAt, lobbyId, ...compact({ requestedBy }) }
  }

  /** Looks for replies until one settles the request. Anybody can reply, so that one that is not valid is passed over. */
  #follow(
    { lobbyId, rule, timeoutSeconds }: { lobbyId: string; rule: string; timeoutSeconds: number },
    /** Returns the approval, or the name of the device that said no. @throws for any other reply */
    read: (reply: unknown) => PaymentApproval | string
  ): Pick<ApprovalRequest, 'answer' | 'cancel'> {
    const { services, login } = this.#options
    let settle: { resolve(approval: PaymentApproval): void; reject(error: unknown): void } | undefined
    const answer = new Promise<PaymentApproval>((resolve, reject) => {
      settle = { resolve, reject }
    })
    const refusal = (reason: string): WalletError =>
      new WalletError('SIGN_REFUSED', {
        ...{ pluginId: 'account', refusedBy: 'account', rule, reason: `rule "${rule}": ${reason}` }
      })
    const end = (result: PaymentApproval | Error): void => {
      if (settle === undefined) return
      const { resolve, reject } = settle
      settle = undefined
      stopTimer()
      void poller.stop()
      deleteLobby(services, lobbyId).catch(() => {})
      if (result instanceof Error) reject(result)
      else resolve(result)
    }
    const seen = new Set<string>()
    const look = async (): Promise<void> => {
      try {
        void login.openState
        const { replies } = await getLobby(services, lobbyId)
        for (const reply of replies) {
          const text = JSON.stringify(reply)
          if (seen.has(text)) continue
          seen.add(text)
          const result = tryRead(read, reply)
          if (typeof result === 'string') end(refusal(`the device "${result}" has refused it`))
          else if (result !== undefined) end(result)
        }
      } catch (error) {
        const isOver = isWalletError(error, 'LOBBY_NOT_FOUND') || isWalletError(error, 'LOGGED_OUT')
        if (isOver) end(error)
        else throw error
      }
    }
    const onError = (error: unknown): void =>
      services.logOf('rules').warn(failureLine('Still waiting for a second device', error))
    const { clock } = services.io
    const poller = new Poller({ clock, gapMs: POLL_MS, task: look, onError })
    const stopTimer = clock.after(timeoutSeconds * 1000, () =>
      end(refusal('no second device has answered in time'))
    )
    answer.catch(() => {})
    poller.start()
    void poller.runNow()
    return { answer, cancel: () => end(new WalletError('SIGN_STOPPED', {})) }
  }

  /** What a device signs: nothing else that a key of it signs has this form. */
  #answerText(
    answer: 'no' | 'yes',
    { draft, walletId, lobbyId, endsAt, requestedBy = '' }: AnsweredPayment
  ): string {
    const { io } = this.#options.services
    const { loginId } = this.#options.login.openState.held
    const digest = io.crypto.toHex(io.crypto.sha256(utf8Of(draft)))
    return JSON.stringify([DOMAIN, answer, loginId, walletId, lobbyId, digest, requestedBy, endsAt])
  }

  #isSigned(text: string, { key, signature }: Pick<PaymentApproval, 'key' | 'signature'>): boolean {
    const { crypto } = this.#options.services.io
    try {
      const digest = crypto.sha256(utf8Of(text))
      return schnorr.verify(crypto.fromHex(signature), digest, crypto.fromHex(key))
    } catch {
      return false
    }
  }

  /** A key that every device of the account can make, and nobody else. */
  #withAccountKey<T>(use: (key: Uint8Array) => T): T {
    const { io } = this.#options.services
    const { loginKey } = this.#options.login.openState.held
    const key = loginKey.use(bytes => io.crypto.hmacSha256(bytes, utf8Of(DOMAIN)))
    try {
      return use(key)
    } finally {
      key.fill(0)
    }
  }
}

interface AnsweredPayment extends Pick<PaymentToApprove, 'requestedBy' | 'walletId'> {
  readonly draft: string
  readonly lobbyId: string
  readonly endsAt: number
}

const DOMAIN = 'holdfast payment approval 1'
const KEY = 'key'
/** The words for it in an error. */
const APPROVAL = 'approval by a second device'
/** The requests whose approvals were not used yet, with their ends. */
const REQUESTED = 'requested/'
const POLL_MS = 1000
/** Seconds. */
const TIMEOUT_S = 600
const MAX_TIMEOUT_S = 86_400
const LOBBY_LONGER_S = 60
/** Sealed, it must fit into a request of a lobby. */
const MAX_DRAFT = 60_000

/** The text of a draft; a copy of a frozen draft has the same. */
const draftTextOf = (tx: Transaction): string => JSON.stringify(tx)

const tryRead = <T>(read: (reply: unknown) => T, reply: unknown): T | undefined => {
  try {
    return read(reply)
  } catch {
    return undefined
  }
}

const asAnswer = (value: unknown): { answer: 'no' | 'yes'; key: string; signature: string } => {
  const { answer, key, signature } = isRecord(value) ? value : {}
  if ((answer !== 'yes' && answer !== 'no') || !isShortText(key) || !isShortText(signature))
    throw new WalletError('LOBBY_INTEGRITY', {})
  return { answer, key, signature }
}

/** Reads the draft of another device, for a review. @throws BOGUS_TX for anything but an unsigned payment */
const readDraft = (text: string): Transaction => {
  const bogus = (path: string): WalletError => new WalletError('BOGUS_TX', { pluginId: 'account', path })
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch {
    throw bogus('')
  }
  const tx = checkEngineTransaction('account', value) as Transaction
  const { spendTargets = [] } = tx
  if (!isShortText(tx.walletId)) throw bogus('walletId')
  if (tx.txid !== '' || tx.signedTx !== '') throw bogus('signedTx')
  if (!Array.isArray(tx.memos)) throw bogus('memos')
  if (tx.replaces !== undefined && !isShortText(tx.replaces)) throw bogus('replaces')
  const isTarget = (target: unknown): boolean =>
    isRecord(target) && isShortText(target.publicAddress) && isNativeAmount(target.nativeAmount)
  if (!Array.isArray(spendTargets) || !spendTargets.every(isTarget)) throw bogus('spendTargets')
  return tx
}

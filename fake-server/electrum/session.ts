import { type Json, parseJsonText } from '../../kernel/base/json.ts'
import type { ChainChange } from '../chain/fake-chain.ts'
import {
  errorReply,
  idOf,
  notification,
  parseParams,
  parseRequest,
  RPC,
  RpcFault,
  type RpcRequest,
  resultReply
} from './json-rpc.ts'
import { type ServerKind, serverKinds } from './kinds.ts'
import {
  compareVersions,
  type ElectrumSessionState,
  electrumMethods,
  headerResult,
  negotiateVersion,
  type ServedChain
} from './methods.ts'

/** The limits of one client. Lengths are in characters. */
export interface ElectrumLimits {
  readonly maxMessage: number
  readonly maxReply: number
  readonly maxBatch: number
  readonly maxSubscriptions: number
  readonly maxHistory: number
}

/** The default limits of a fake server: those of a public one, but generous with batches. */
export const DEFAULT_LIMITS: ElectrumLimits = {
  maxMessage: 1_000_000,
  maxReply: 8_000_000,
  maxBatch: 5000,
  maxSubscriptions: 50_000,
  maxHistory: 50_000
}

/** One client's conversation, whatever carries it. */
export interface ElectrumSession {
  /** Takes one whole message: a request or a batch. Replies before it returns, unless a node has to answer first; never throws. */
  receive(message: string): void
  /** Ends it; nothing is sent afterwards. */
  close(): void
}

/** The server that a client meets, if it is not the fake one's own kind. */
export interface ElectrumPersonality {
  readonly kind: ServerKind
  /** Ends the connection. */
  end(): void
}

/**
 * Answers one client by Electrum protocol 1.4 to 1.6, or as another kind of server does.
 *
 * `send` gets one whole message at a time, without a newline. A notification never comes between a request and
 * its reply, unless the kind does that.
 */
export const makeElectrumSession = (
  chain: ServedChain,
  send: (message: string) => void,
  limits: Partial<ElectrumLimits> = {},
  personality: ElectrumPersonality = { kind: serverKinds.ours, end: () => {} }
): ElectrumSession => {
  const session = new Session(chain, send, { ...DEFAULT_LIMITS, ...limits }, personality)
  return { receive: message => session.receive(message), close: () => session.close() }
}

class Session implements ElectrumSessionState {
  readonly chain: ServedChain
  readonly #send: (message: string) => void
  readonly #limits: ElectrumLimits
  readonly #kind: ServerKind
  readonly #end: () => void
  #cost = 0
  readonly #scripts = new Map<string, string | null>()
  readonly #stopListening: () => void
  #isTipWatched = false
  /** What was agreed on; undefined before that. */
  #version: string | undefined
  #isClosed = false
  /** Notifications that wait until the request at hand has its reply; undefined between requests. */
  #held: string[] | undefined

  constructor(
    chain: ServedChain,
    send: (message: string) => void,
    limits: ElectrumLimits,
    { kind, end }: ElectrumPersonality
  ) {
    this.chain = chain
    this.#send = send
    this.#limits = { ...limits, maxBatch: Math.min(limits.maxBatch, kind.maxBatch) }
    this.#kind = kind
    this.#end = end
    this.#stopListening = chain.onChange(change => this.#onChange(change))
  }

  receive(message: string): void {
    if (this.#isClosed) return
    if (this.#kind.maxBatch === 0 && message.trimStart().startsWith('[')) return void this.#end()
    this.#held = []
    const reply = this.#replyTo(message)
    if (reply instanceof Promise) void reply.then(text => this.#sendOrHold(text))
    else this.#sendOrHold(reply)
    const held = this.#held
    this.#held = undefined
    for (const text of held) this.#sendOrHold(text)
  }

  close(): void {
    this.#isClosed = true
    this.#stopListening()
    this.#scripts.clear()
  }

  watchTip(): void {
    this.#isTipWatched = true
  }

  watchScript(scriptHash: string): string | null {
    if (!this.#scripts.has(scriptHash) && this.#scripts.size >= this.#limits.maxSubscriptions)
      throw this.#refuseSubscription()
    if (this.#kind.tooLong === 'closed') this.checkHistoryLength(this.#lengthOf(scriptHash))
    const status = this.#statusOf(scriptHash)
    this.#scripts.set(scriptHash, status)
    if (this.#kind.notifiesEarly === true && status !== null)
      this.#send(notification('blockchain.scripthash.subscribe', [scriptHash, status]))
    return status
  }

  #refuseSubscription(): RpcFault {
    const { atLimit } = this.#kind
    if (atLimit === 'closed') this.#end()
    if (atLimit === 'exhausted') this.#exhaust()
    return atLimit === 'refused'
      ? new RpcFault(TOO_MUCH, 'Subscription limit reached')
      : new RpcFault(RPC.refused, `too many subscriptions (limit ${this.#limits.maxSubscriptions})`)
  }

  unwatchScript(scriptHash: string): boolean {
    return this.#scripts.delete(scriptHash)
  }

  speaks(version: string): boolean {
    return this.#version !== undefined && compareVersions(this.#version, version) >= 0
  }

  checkHistoryLength(length: number): 'empty' | 'whole' {
    if (length <= this.#limits.maxHistory) return 'whole'
    const { tooLong } = this.#kind
    if (tooLong === 'empty') return tooLong
    if (tooLong === 'closed') this.#end()
    throw tooLong === 'closed'
      ? new RpcFault(RPC.refused, 'Too many history entries')
      : new RpcFault(tooLong, 'history too large')
  }

  #lengthOf(scriptHash: string): number {
    return this.chain.view.scripts.historyOf(scriptHash).length
  }

  #statusOf(scriptHash: string): string | null {
    const isHidden = this.#kind.tooLong === 'empty' && this.#lengthOf(scriptHash) > this.#limits.maxHistory
    return isHidden ? null : this.chain.view.scripts.statusOf(scriptHash)
  }

  #replyTo(message: string): Reply | Promise<Reply> {
    if (message.length > this.#limits.maxMessage) {
      return errorReply(null, {
        code: RPC.request,
        message: `message too large (limit ${this.#limits.maxMessage})`
      })
    }
    let value: Json
    try {
      value = parseJsonText(message) as Json
    } catch {
      return errorReply(null, { code: RPC.parse, message: 'invalid JSON' })
    }
    if (!Array.isArray(value)) return this.#answer(value, this.#limits.maxReply)
    return this.#answerBatch(value)
  }

  #answerBatch(requests: readonly Json[]): Reply | Promise<Reply> {
    if (requests.length === 0) return errorReply(null, { code: RPC.request, message: 'empty batch' })
    if (requests.length > this.#limits.maxBatch) {
      return errorReply(null, {
        code: TOO_MUCH,
        message: `batch too large (limit ${this.#limits.maxBatch})`
      })
    }
    const replies: (Reply | Promise<Reply>)[] = []
    let room = this.#limits.maxReply
    for (const request of requests) {
      const reply = this.#answer(request, room)
      replies.push(reply)
      if (typeof reply === 'string') room -= reply.length
    }
    return replies.some(reply => reply instanceof Promise)
      ? Promise.all(replies).then(batchReply)
      : batchReply(replies as readonly Reply[])
  }

  #answer(value: Json, room: number): Reply | Promise<Reply> {
    const refuse = (error: unknown): Reply => {
      const fault = error instanceof RpcFault ? error : new RpcFault(RPC.internal, 'internal error')
      if (isNotification(value)) return undefined
      this.#charge()
      const id = idOf(value)
      return this.#kind.hasTextErrors === true
        ? JSON.stringify({ jsonrpc: '2.0', error: fault.message, id })
        : errorReply(id, fault)
    }
    try {
      const { id, ...call } = parseRequest(value)
      const finish = (result: Json): Reply => {
        if (id === undefined) return undefined
        const reply = resultReply(id, result)
        if (reply.length <= room) return reply
        throw new RpcFault(RPC.refused, `response too large (limit ${this.#limits.maxReply})`)
      }
      const result = this.#call(call)
      return result instanceof Promise ? result.then(finish).catch(refuse) : finish(result)
    } catch (error) {
      return refuse(error)
    }
  }

  #call({ method, params }: RpcRequest): Json | Promise<Json> {
    if (method === 'server.version') return this.#agreeVersion(params)
    const known = electrumMethods.get(method)
    if (known === undefined || this.#kind.lacks.includes(method))
      throw new RpcFault(RPC.method, `unknown method "${method.slice(0, 80)}"`)
    if (this.#version === undefined) throw new RpcFault(RPC.refused, 'use server.version to identify client')
    const { since = this.#version, until } = known
    if (!this.speaks(since) || (until !== undefined && this.speaks(until)))
      throw new RpcFault(RPC.method, `unknown method "${method}"`)
    const names =
      this.#kind.hasNoCheckpoints === true ? known.params.filter(name => name !== 'cp_height?') : known.params
    return known.call(this, parseParams(params, names))
  }

  /** Counts an error; too many of them end the connection. */
  #charge(): void {
    const { cost } = this.#kind
    if (cost === undefined) return
    this.#cost += cost.error
    if (this.#cost > cost.limit) this.#exhaust()
  }

  #exhaust(): void {
    this.#send(errorReply(null, { code: -101, message: 'excessive resource usage' }))
    this.#end()
  }

  #agreeVersion(given: RpcRequest['params']): Json {
    if (this.#version !== undefined) throw new RpcFault(RPC.refused, 'server.version already sent')
    const params = parseParams(given, ['client_name?', 'protocol_version?'])
    const { software, versions, isDeaf, readsOneVersion } = this.#kind
    const wanted = params.raw(1)
    if (readsOneVersion === true && Array.isArray(wanted)) this.#end()
    const agreed = isDeaf === true ? versions[1] : negotiateVersion(wanted, versions)
    this.#version = agreed
    return [software, agreed]
  }

  #onChange({ isTipNew, scriptHashes }: ChainChange): void {
    if (isTipNew && this.#isTipWatched) {
      this.#sendOrHold(
        notification('blockchain.headers.subscribe', [headerResult(this.chain.view.tip)]),
        true
      )
    }
    for (const scriptHash of scriptHashes) {
      const last = this.#scripts.get(scriptHash)
      if (last === undefined) continue
      const status = this.#statusOf(scriptHash)
      if (status === last) continue
      this.#scripts.set(scriptHash, status)
      this.#sendOrHold(notification('blockchain.scripthash.subscribe', [scriptHash, status]), true)
    }
  }

  #sendOrHold(text: Reply, isNotice = false): void {
    if (text === undefined || this.#isClosed) return
    if (isNotice && this.#held !== undefined) this.#held.push(text)
    else this.#send(text)
  }
}

/** The code of Fulcrum for what is more than it gives. */
const TOO_MUCH = 4

/** None for a notification. */
type Reply = string | undefined

const batchReply = (replies: readonly Reply[]): Reply => {
  const texts = replies.filter(reply => reply !== undefined)
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}

const isNotification = (value: Json): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !Object.hasOwn(value, 'id') &&
  Object.hasOwn(value, 'method')

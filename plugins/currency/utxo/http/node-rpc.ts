import { compact, type Io, type Json, type JsonObject, tryJsonText } from '../../../../kernel/plugin-api.ts'
import { ElectrumFault } from '../electrum/connection.ts'
import { asObject } from './polled-connection.ts'
import { type OnBusy, type QueuedRequest, RequestQueue } from './request-queue.ts'

/** A method of a node with its parameters, by place or by name. */
export interface NodeCall {
  readonly method: string
  readonly params?: readonly Json[] | JsonObject
}

/** The refusal of a node, by its code; its words are for who looks for a reason in them, and are not shown. */
export class NodeRefusal extends Error {
  readonly code: number
  readonly words: string

  constructor(method: string, code: number, words: string) {
    super(`The node refuses ${method} (${code})`)
    this.name = 'NodeRefusal'
    this.code = code
    this.words = words
  }
}

/** Options of {@link NodeRpc}. */
interface NodeRpcOptions {
  /** The address of the node, without a final slash. */
  readonly base: string
  readonly circuit?: string | undefined
  /** The wallet of the node whose methods are called. */
  readonly wallet: string
  readonly onBusy?: OnBusy | undefined
  /** Called when the node has not loaded the wallet; what it has refused for that is sent once more afterwards. */
  readonly onUnloaded?: () => Promise<void>
}

/**
 * The JSON-RPC of a node of Bitcoin Core's family. The platform adds the login, which is not known here.
 *
 * Numbers are read as doubles: amounts are read from the bytes of transactions only.
 */
export class NodeRpc {
  readonly #queue: RequestQueue
  readonly #wallet: string
  readonly #onUnloaded: (() => Promise<void>) | undefined
  #nextId = 0

  constructor(io: Io, { base, circuit, wallet, onBusy, onUnloaded }: NodeRpcOptions) {
    this.#onUnloaded = onUnloaded
    this.#queue = new RequestQueue(io, {
      // A node that is stopped waits half a minute for connections that are kept.
      ...{ base, circuit, headers: { connection: 'close' }, withLogin: true },
      ...{ busyStatuses: [429, 503], waitMs: 250, ...compact({ onBusy }) }
    })
    this.#wallet = `/wallet/${encodeURIComponent(wallet)}`
  }

  /**
   * Calls a method of the node.
   *
   * @param deadlineMs - for methods that look through all coins
   * @throws NodeRefusal; ElectrumFault, Error
   */
  async node(method: string, params: readonly Json[] | JsonObject = [], deadlineMs?: number): Promise<Json> {
    return this.#call('/', { method, params }, deadlineMs)
  }

  /** Calls a method of the wallet. @param deadlineMs - for methods that look through the whole chain */
  async wallet(
    method: string,
    params: readonly Json[] | JsonObject = [],
    deadlineMs?: number
  ): Promise<Json> {
    return this.#call(this.#wallet, { method, params }, deadlineMs)
  }

  /** Calls many methods of the wallet, and the node; a refusal stands in the place of its answer. */
  async many(
    calls: readonly NodeCall[],
    limits: Pick<QueuedRequest, 'sentBefore'> = {}
  ): Promise<(Json | NodeRefusal)[]> {
    const answers: (Json | NodeRefusal)[] = []
    for (let at = 0; at < calls.length; at += BATCH)
      answers.push(...(await this.#send(this.#wallet, calls.slice(at, at + BATCH), limits)))
    return answers
  }

  /** Rejects what is in flight; a search of the chain goes on in the node. */
  close(): void {
    this.#queue.close()
  }

  async #call(path: string, call: NodeCall, deadlineMs?: number): Promise<Json> {
    const [answer = null] = await this.#send(path, [call], compact({ deadlineMs }))
    if (answer instanceof NodeRefusal) throw answer
    return answer
  }

  async #send(
    path: string,
    calls: readonly NodeCall[],
    limits: Pick<QueuedRequest, 'deadlineMs' | 'sentBefore'>
  ): Promise<(Json | NodeRefusal)[]> {
    const answers = await this.#sendOnce(path, calls, limits)
    const isUnloaded = answers.some(answer => answer instanceof NodeRefusal && answer.code === NO_WALLET)
    if (!isUnloaded || path !== this.#wallet || this.#onUnloaded === undefined) return answers
    await this.#onUnloaded()
    return this.#sendOnce(path, calls, limits)
  }

  async #sendOnce(
    path: string,
    calls: readonly NodeCall[],
    limits: Pick<QueuedRequest, 'deadlineMs' | 'sentBefore'>
  ): Promise<(Json | NodeRefusal)[]> {
    const first = this.#nextId
    this.#nextId += calls.length
    const requests = calls.map(({ method, params = [] }, at) => ({
      jsonrpc: '1.0',
      id: first + at,
      method,
      params
    }))
    const { status, text } = await this.#queue.send({
      path,
      body: JSON.stringify(requests.length === 1 ? requests[0] : requests),
      contentType: 'application/json',
      maxReplyBytes: MAX_REPLY,
      ...limits
    })
    if (status === 401) throw new Error('The node refuses the login')
    if (status === 403) throw new Error('The node takes no requests from here (rpcallowip)')
    const reply = tryJsonText(text, { maxValues: MAX_VALUES }) as Json | undefined
    const list = Array.isArray(reply) ? (reply as readonly Json[]) : [reply ?? null]
    const byId = new Map(list.map(item => [asObject(item).id, asObject(item)]))
    return calls.map(({ method }, at) => {
      const answer = byId.get(first + at)
      if (answer === undefined)
        throw new ElectrumFault(`The server is no node: it answers with status ${status}`)
      if (answer.error === undefined || answer.error === null) return answer.result ?? null
      const { code, message } = asObject(answer.error)
      return new NodeRefusal(method, Number(code), String(message).slice(0, 500))
    })
  }
}

/** There is no wallet of that name, or it is not loaded. */
export const NO_WALLET = -18
/** Calls of one request. */
const BATCH = 50
/** The payments of a wallet with some ten thousand of them, or a large block. */
const MAX_REPLY = 64_000_000
const MAX_VALUES = 4_000_000

import { ActionError } from '../../../app/actions/action-error.ts'
import {
  type ActionHandler,
  type ActionName,
  type Actions,
  type ActionWatcher,
  readingActions
} from '../../../app/actions/actions.ts'
import type { WatchListener } from '../../../app/actions/watch-action.ts'
import { compact, type JsonObject, Observable, type Readable } from '../../../kernel/index.ts'
import type { JournalEvent } from '../model/facts.ts'
import type { View } from '../model/slices.ts'
import {
  type ClientMessage,
  type HostMessage,
  type PanelChannel,
  PROTOCOL_VERSION
} from '../protocol/protocol.ts'
import {
  emptyView,
  foldMessage,
  initialState,
  type KnownState,
  snapshotMessageOf,
  type TableMessage,
  withoutKnownEvents
} from './view.ts'

/** The state of a client's connection to its kernel. */
export interface ClientStatus {
  /** `past`: a recording or a snapshot is shown, and nothing can be done. */
  readonly connection: 'connecting' | 'live' | 'lost' | 'past'
  /** Why it is lost, and what helps. */
  readonly message?: string
  readonly isReadOnly: boolean
  /** There is a fake world that can be driven. */
  readonly hasWorld: boolean
  /** False: its accounts can be moved to no login server. */
  readonly hasLoginServer?: boolean
  /** The network of a profile that is in no fake world, such as `main`. */
  readonly network?: string
  /** The profile that commands have to name, where it is not the usual one. */
  readonly profile?: string
  /** Events that were left out because they came too fast, or because the ring was full. */
  readonly missed: number
}

/**
 * Receives the messages of a client. After a gap all tables are sent again, with the events that were not sent before.
 *
 * `kernelId`: another one after a restart of the kernel, whose numbers begin anew.
 */
type Follower = (message: TableMessage, kernelId: string) => void

/** Makes and restores the backups of a kernel in the same page; they throw what the kernel throws. */
export interface AccountBackups {
  /** Makes the backup of an open account. Returns undefined if its rules require the password and none was given. */
  make(accountId: string, password?: string): Promise<string | undefined>
  /** Restores the account of a backup, and gives its name. */
  restore(backup: string, password: string): Promise<{ readonly username?: string }>
}

/**
 * The panel's view of a kernel: tables, events and actions. In the page or over a socket, from a recording or live: the
 * panel cannot tell.
 */
export interface DevtoolsClient {
  readonly view: Readable<View>
  /** The newest events, oldest first; bounded. Replaced at most ten times a second. */
  readonly events: Readable<readonly JournalEvent[]>
  readonly status: Readable<ClientStatus>
  /** @throws an error with code READ_ONLY, DISCONNECTED, and what the kernel throws */
  readonly runAction: ActionHandler
  /** Backups, which pass through no message and no event. Absent of a kernel that is not in the page, or may only be looked at. */
  readonly backups?: AccountBackups
  /** Shows each result of an action as long as there is a connection; a failure may be followed by results. Absent as `follow`. */
  readonly watch?: ActionWatcher
  /**
   * Sends all that is known, if anything is, and then each change of it, until the returned function is called. Absent of
   * a client that shows the past.
   */
  readonly follow?: (follower: Follower) => () => void
  close(): void
}

/**
 * Makes a panel's client over a channel. It subscribes after each `hello`, so that a channel may connect again by
 * itself: it calls the `onClose` listeners each time it is lost, and the host greets each time it is back.
 *
 * @param whenLost - what its status then says, for who can do something about it
 */
export const makeClient = (
  channel: PanelChannel<ClientMessage, HostMessage>,
  whenLost = 'The kernel or the connection to it is gone.'
): DevtoolsClient => new ChannelClient(channel, whenLost).asDevtoolsClient

class ChannelClient {
  readonly #channel: PanelChannel<ClientMessage, HostMessage>
  readonly #view = new Observable<View>(emptyView)
  readonly #events = new Observable<readonly JournalEvent[]>([])
  readonly #status = new Observable<ClientStatus>({
    connection: 'connecting',
    isReadOnly: true,
    hasWorld: false,
    missed: 0
  })
  readonly #calls = new Map<number, PendingCall>()
  /** Sent again to each host that greets. */
  readonly #watches = new Map<number, Watch>()
  readonly #followers = new Set<Follower>()
  #known: KnownState = initialState
  #kernelId: string | undefined
  #isAwaitingSnapshot = true
  #callCount = 0
  #isGreeted = false
  #isClosed = false

  constructor(channel: PanelChannel<ClientMessage, HostMessage>, whenLost: string) {
    this.#channel = channel
    channel.onMessage(message => this.#onMessage(message))
    channel.onClose(() => this.#onLost(whenLost))
  }

  get asDevtoolsClient(): DevtoolsClient {
    const runAction: ActionHandler = (name, input) => this.#runAction(name, input)
    return {
      view: readable(this.#view),
      events: readable(this.#events),
      status: readable(this.#status),
      runAction,
      watch: (name, input, listener) => this.#watch({ action: name, input, listener } as Watch),
      follow: follower => this.#follow(follower),
      close: () => this.#close()
    }
  }

  #onMessage(message: HostMessage): void {
    if (this.#isClosed) return
    switch (message.type) {
      case 'hello':
        this.#onHello(message)
        break
      case 'snapshot':
        this.#isAwaitingSnapshot = false
        this.#fold(message)
        break
      case 'batch':
        if (!this.#isAwaitingSnapshot) this.#fold(message)
        break
      case 'result':
        this.#takeCall(message.id)?.resolve(message.output)
        break
      case 'update':
        this.#watches.get(message.id)?.listener.onOutput(message.output as never)
        break
      case 'refused': {
        const error = new ActionError(message.error)
        this.#takeCall(message.id)?.reject(error)
        this.#watches.get(message.id)?.listener.onFailure(error)
        break
      }
    }
  }

  #onHello(hello: Extract<HostMessage, { readonly type: 'hello' }>): void {
    const { version, kernelId, isReadOnly, hasWorld, hasLoginServer, network, profile } = hello
    if (version !== PROTOCOL_VERSION) {
      this.#onLost(
        `The kernel speaks version ${version} of the protocol, and this panel ${PROTOCOL_VERSION}.`
      )
      return
    }
    // After a restart of the kernel the numbers begin anew: what was known is of no use.
    if (this.#kernelId !== kernelId) this.#known = initialState
    this.#kernelId = kernelId
    const facts = { isReadOnly, hasWorld, ...compact({ hasLoginServer, network, profile }) }
    this.#status.set({ connection: 'connecting', ...facts, missed: this.#known.missed })
    this.#subscribe()
    this.#isGreeted = true
    for (const [id, watch] of this.#watches) this.#sendWatch(id, watch)
  }

  #subscribe(): void {
    this.#isAwaitingSnapshot = true
    const { seq } = this.#known
    this.#channel.send({
      type: 'subscribe',
      version: PROTOCOL_VERSION,
      ...compact({ sinceSeq: seq })
    })
  }

  #fold(message: TableMessage): void {
    const next = foldMessage(this.#known, message)
    if (next === undefined) {
      this.#subscribe()
      return
    }
    const news = withoutKnownEvents(this.#known, message)
    this.#known = next
    for (const follower of this.#followers) follower(news, this.#kernelId ?? '')
    this.#view.set(next.view)
    this.#events.set(next.events)
    const { connection, missed, message: _, ...facts } = this.#status.getSnapshot()
    if (connection !== 'live' || missed !== next.missed)
      this.#status.set({ connection: 'live', ...facts, missed: next.missed })
  }

  #follow(follower: Follower): () => void {
    const known = snapshotMessageOf(this.#known)
    if (known !== undefined) follower(known, this.#kernelId ?? '')
    // Of its own, so that one who follows twice may stop once.
    const own: Follower = (message, kernelId) => follower(message, kernelId)
    this.#followers.add(own)
    return () => void this.#followers.delete(own)
  }

  #runAction<K extends ActionName>(name: K, input: Actions[K]['in']): Promise<Actions[K]['out']> {
    const { connection, isReadOnly } = this.#status.getSnapshot()
    if (this.#isClosed || connection !== 'live') return Promise.reject(disconnected())
    if (isReadOnly && !readingActions.has(name)) {
      const message = 'This panel is read-only.'
      return Promise.reject(new ActionError({ code: 'READ_ONLY', message }))
    }
    this.#callCount += 1
    const id = this.#callCount
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve: output => resolve(output as Actions[K]['out']), reject })
      this.#channel.send({ type: 'call', id, action: name, input: input as JsonObject })
    })
  }

  #watch(watch: Watch): () => void {
    this.#callCount += 1
    const id = this.#callCount
    this.#watches.set(id, watch)
    if (this.#isGreeted) this.#sendWatch(id, watch)
    return () => {
      if (this.#watches.delete(id) && this.#isGreeted) this.#channel.send({ type: 'unwatch', id })
    }
  }

  #sendWatch(id: number, { action, input }: Watch): void {
    this.#channel.send({ type: 'watch', id, action, input })
  }

  #takeCall(id: number): PendingCall | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    return call
  }

  #onLost(message: string): void {
    this.#isAwaitingSnapshot = true
    this.#isGreeted = false
    this.#status.update({ connection: 'lost', message })
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    // Whether they were done is not known: the panel must look before it does them again.
    for (const { reject } of calls) reject(unanswered())
  }

  #close(): void {
    if (this.#isClosed) return
    this.#onLost('The panel was closed.')
    this.#isClosed = true
    this.#watches.clear()
    this.#channel.close()
  }
}

interface Watch {
  readonly action: ActionName
  readonly input: JsonObject
  readonly listener: WatchListener<never>
}

interface PendingCall {
  resolve(output: JsonObject): void
  reject(error: unknown): void
}

const disconnected = (): ActionError =>
  new ActionError({
    code: 'DISCONNECTED',
    message: 'There is no connection to the kernel, so nothing was done.',
    hint: 'Try again once the connection is back.'
  })

const unanswered = (): ActionError =>
  new ActionError({
    code: 'DISCONNECTED',
    message: 'The connection was lost before the reply, so it is not known if this was done.',
    details: { outcome: 'unknown' },
    hint: 'Check the wallet and its payments before you try again.'
  })

const readable = <S>(observable: Observable<S>): Pick<Observable<S>, 'subscribe' | 'getSnapshot'> => ({
  subscribe: listener => observable.subscribe(listener),
  getSnapshot: () => observable.getSnapshot()
})

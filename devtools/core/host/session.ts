import { ActionError, actionFailureOf } from '../../../app/actions/action-error.ts'
import {
  type ActionHandler,
  type ActionName,
  type ActionWatcher,
  addressActions,
  readingActions
} from '../../../app/actions/actions.ts'
import { type Clock, compact, type JsonObject } from '../../../kernel/index.ts'
import type { ActionFact, JournalEvent } from '../model/facts.ts'
import { type RedactOptions, redactEntry, redactFailure, redactOutput, redactRow } from '../model/redact.ts'
import type { SliceName, SlicePatch, Slices } from '../model/slices.ts'
import { sliceNames } from '../model/snapshot-fields.ts'
import {
  type BadMessage,
  type ClientMessage,
  type HostMessage,
  type PanelChannel,
  PROTOCOL_VERSION,
  readMessage
} from '../protocol/protocol.ts'
import type { ActionCorrelation } from './correlation.ts'
import type { Journal } from './journal.ts'
import type { Tables } from './tables.ts'

/** The rights of one panel, and the state of its connection. */
export interface AttachOptions {
  /** Only the actions that change nothing are done. */
  readonly isReadOnly: boolean
  /** Does the actions; without it there is nothing to do but look. */
  readonly runAction?: ActionHandler
  /** Watches the results of actions; without it they are read once. */
  readonly watchAction?: ActionWatcher
  /** There is a fake world that can be driven. */
  readonly hasWorld: boolean
  /** False: its accounts can be moved to no login server, and the panel says so. */
  readonly hasLoginServer?: boolean
  /** The network of a profile that is in no fake world, such as `main`; the panel shows it. */
  readonly network?: string
  /** The profile that commands have to name, where it is not the usual one. */
  readonly profile?: string
  /** The panel does not keep up: it receives tables once a second, and events are left out and counted. */
  readonly isSlow?: () => boolean
  /** Shows this panel no addresses and txids, even if the devtools show them to others. */
  readonly hideAddresses?: boolean
}

/** Serves panels: the side of the kernel. */
export interface PanelHost {
  /** Serves one panel until the returned function is called or the channel closes. */
  attach(channel: PanelChannel<HostMessage, ClientMessage>, options: AttachOptions): () => void
}

/** The changed rows of one table since the last batch, in the order of the changes. */
interface DirtyRows {
  readonly changed: Set<string>
  readonly removed: Set<string>
}

/** The state that all sessions share with the host. */
export interface SessionContext {
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly kernelId: string
  readonly batchMs: number
  readonly tables: Tables
  readonly journal: Journal
  readonly redaction: RedactOptions
  readonly correlation: ActionCorrelation
  /** Notes what the panel did. */
  onAction(fact: ActionFact, correlationId: string): void
  onEnded(session: PanelSession): void
}

/** What happens at the same time comes in one batch. */
const GATHER_MS = 10
/** The shortest time between two batches for a slow panel, in milliseconds. */
const SLOW_MS = 1000
/** The number of calls that one panel may have in flight, and of results that it may watch. */
const MAX_CALLS = 50

/** One panel that is attached: what it has seen, what has changed since, and what it calls for. */
export class PanelSession {
  readonly #context: SessionContext
  readonly #channel: PanelChannel<HostMessage, ClientMessage>
  readonly #options: AttachOptions
  readonly #dirty = new Map<SliceName, DirtyRows>()
  /** Ends each watch, by its id. */
  readonly #watches = new Map<number, () => void>()
  #isSubscribed = false
  #isEnded = false
  #seq = 0
  #sentAt = 0
  #batchAt = 0
  #calls = 0
  #cancel: (() => void) | undefined

  constructor(
    context: SessionContext,
    channel: PanelChannel<HostMessage, ClientMessage>,
    options: AttachOptions
  ) {
    this.#context = context
    this.#channel = channel
    this.#options = options
    channel.onClose(() => this.#end())
    channel.onMessage(message => this.#onMessage(readMessage(message)))
  }

  /** Says who is here; the panel subscribes next. */
  greet(): void {
    const { kernelId } = this.#context
    const { isReadOnly, hasWorld, hasLoginServer, network, profile } = this.#options
    const facts = { kernelId, isReadOnly, hasWorld, ...compact({ hasLoginServer, network, profile }) }
    this.#send({ type: 'hello', version: PROTOCOL_VERSION, ...facts })
  }

  /** A row has changed or left. */
  markRow(slice: SliceName, id: string, what: 'changed' | 'removed'): void {
    if (!this.#isSubscribed) return
    let rows = this.#dirty.get(slice)
    if (rows === undefined) {
      rows = { changed: new Set(), removed: new Set() }
      this.#dirty.set(slice, rows)
    }
    rows[what].add(id)
    // One that comes back after it was removed is in both: it stands at the end of its table then.
    if (what === 'removed') rows.changed.delete(id)
  }

  /** Something was noted: after a rest it is sent nearly at once, and else a tenth of a second after the last batch. */
  scheduleFlush(): void {
    if (!this.#isSubscribed || this.#cancel !== undefined) return
    const { clock, batchMs } = this.#context
    // A calendar that was set back must not hold it up.
    const rest = Math.min(batchMs, this.#batchAt + batchMs - clock.now())
    this.#cancel = clock.after(Math.max(Math.min(GATHER_MS, batchMs), rest), () => this.#flush())
  }

  /** Sends what is left, and closes. */
  detach(): void {
    if (this.#isEnded) return
    this.#cancel?.()
    if (this.#isSubscribed) this.#sendBatch(false)
    this.#end()
    this.#channel.close()
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#isSubscribed = false
    this.#cancel?.()
    this.#dirty.clear()
    for (const stop of this.#watches.values()) stop()
    this.#watches.clear()
    this.#context.onEnded(this)
  }

  #onMessage(message: ClientMessage | BadMessage): void {
    if (this.#isEnded) return
    if (message.type === 'subscribe') this.#subscribe(message)
    else if (message.type === 'call') void this.#call(message)
    else if (message.type === 'watch') this.#watch(message)
    else if (message.type === 'unwatch') this.#unwatch(message.id)
    else this.#refuse(message.id, new ActionError({ code: 'BAD_MESSAGE', message: `${message.rule}.` }))
  }

  #subscribe({ version, sinceSeq = 0 }: { readonly version: number; readonly sinceSeq?: number }): void {
    if (version !== PROTOCOL_VERSION) {
      const message = `This kernel speaks version ${PROTOCOL_VERSION} of the protocol, and not ${version}.`
      this.#refuse(0, new ActionError({ code: 'BAD_MESSAGE', message }))
      return
    }
    const { journal, tables, redaction } = this.#context
    const rowsOf = <K extends SliceName>(slice: K): (readonly [string, Slices[K]])[] =>
      [...tables.rows(slice)].map(([id, row]) => [id, redactRow(slice, row, redaction)])
    const slices = Object.fromEntries(sliceNames.map(slice => [slice, rowsOf(slice)])) as unknown as Extract<
      HostMessage,
      { readonly type: 'snapshot' }
    >['slices']
    const events = this.#eventsSince(sinceSeq)
    this.#isSubscribed = true
    this.#dirty.clear()
    this.#seq = journal.seq
    this.#send({ type: 'snapshot', seq: journal.seq, slices, events })
  }

  #flush(): void {
    this.#cancel = undefined
    const { clock, batchMs } = this.#context
    const isSlow = this.#options.isSlow?.() === true
    const rest = SLOW_MS - (clock.now() - this.#sentAt)
    if (isSlow && rest > 0) {
      this.#cancel = clock.after(Math.min(SLOW_MS, Math.max(batchMs, rest)), () => this.#flush())
      return
    }
    this.#sendBatch(isSlow)
  }

  #sendBatch(isSlow: boolean): void {
    const { journal } = this.#context
    const fromSeq = this.#seq
    const patches = this.#takePatches()
    if (journal.seq === fromSeq && patches.length === 0) return
    const events = isSlow ? [] : this.#eventsSince(fromSeq)
    this.#seq = journal.seq
    this.#batchAt = this.#context.clock.now()
    const missed = journal.seq - fromSeq - events.length
    this.#send({ type: 'batch', fromSeq, seq: journal.seq, patches, events, missed })
  }

  #eventsSince(seq: number): readonly JournalEvent[] {
    const { journal, redaction } = this.#context
    return journal.since(seq).map(entry => redactEntry(entry, redaction))
  }

  #takePatches(): SlicePatch[] {
    const { tables, redaction } = this.#context
    const patches = [...this.#dirty].map(([slice, ids]): SlicePatch => {
      const rows = tables.rows(slice)
      const changed = [...ids.changed].flatMap((id): [string, Slices[SliceName]][] => {
        const row = rows.get(id)
        return row === undefined ? [] : [[id, redactRow(slice, row, redaction)]]
      })
      return { slice, changed, removed: [...ids.removed] }
    })
    this.#dirty.clear()
    return patches
  }

  async #call({ id, action, input }: Extract<ClientMessage, { readonly type: 'call' }>): Promise<void> {
    const { clock, onAction: acted, correlation, redaction } = this.#context
    const started = clock.now()
    const running = correlation.begin(action, input)
    const report = (outcome: Pick<ActionFact, 'outcome' | 'errorCode' | 'subject'>): void => {
      acted({ action, durationMs: clock.now() - started, ...outcome }, running.id)
    }
    this.#calls += 1
    try {
      // An application's own action may return nothing, and what was done must not be reported as failed.
      const output = ((await this.#allowed(action)(action, input as never)) ?? {}) as JsonObject
      correlation.end(running, output)
      report({ outcome: 'done', ...actionSubjectOf(input, output) })
      this.#send({ type: 'result', id, output: redactOutput(action, output, redaction) })
    } catch (error) {
      correlation.end(running)
      report({ outcome: 'failed', ...actionSubjectOf(input), errorCode: actionFailureOf(error).code })
      this.#refuse(id, error)
    } finally {
      this.#calls -= 1
    }
  }

  /** Sends each result of what a panel shows all the time, which is no event. */
  #watch({ id, action, input }: Extract<ClientMessage, { readonly type: 'watch' }>): void {
    this.#unwatch(id)
    try {
      if (this.#watches.size >= MAX_CALLS)
        throw new ActionError({ code: 'BAD_MESSAGE', message: 'Too many results are watched.' })
      if (!readingActions.has(action))
        throw new ActionError({ code: 'BAD_MESSAGE', message: 'Only what changes nothing is watched.' })
      const runAction = this.#allowed(action)
      const watch = this.#options.watchAction ?? onceBy(runAction)
      const { redaction } = this.#context
      const stop = watch(action, input as never, {
        onOutput: output =>
          this.#send({ type: 'update', id, output: redactOutput(action, output, redaction) }),
        onFailure: error => this.#refuse(id, error)
      })
      this.#watches.set(id, stop)
    } catch (error) {
      this.#refuse(id, error)
    }
  }

  #unwatch(id: number): void {
    this.#watches.get(id)?.()
    this.#watches.delete(id)
  }

  /** The read-only switch is enforced here, whatever a panel believes. */
  #allowed(action: ActionName): ActionHandler {
    const { runAction, isReadOnly } = this.#options
    if (isReadOnly && !readingActions.has(action))
      throw new ActionError({
        code: 'READ_ONLY',
        message: 'This panel is read-only.',
        hint: 'Start it again without the read-only switch.'
      })
    if (runAction === undefined)
      throw new ActionError({ code: 'READ_ONLY', message: 'This panel has no action handler.' })
    if (this.#calls > MAX_CALLS)
      throw new ActionError({ code: 'BAD_MESSAGE', message: 'Too many actions are running.' })
    // A mark is no address: it would make a code that cannot be paid, and names no payment.
    if (addressActions.has(action) && this.#context.redaction.hideAddresses === true)
      throw new ActionError({
        code: 'HIDDEN',
        message: 'Addresses and transaction ids are hidden here.',
        hint: 'Start it again without hiding addresses.'
      })
    return runAction
  }

  #refuse(id: number, error: unknown): void {
    this.#send({ type: 'refused', id, error: redactFailure(actionFailureOf(error), this.#context.redaction) })
  }

  #send(message: HostMessage): void {
    if (this.#isEnded) return
    this.#sentAt = this.#context.clock.now()
    try {
      this.#channel.send(message)
    } catch {
      // A panel that receives no more must not show old values as current: it subscribes again on the next channel.
      this.#end()
      this.#channel.close()
    }
  }
}

/** Gives one result, of an application whose actions are not watched. */
const onceBy =
  (runAction: ActionHandler): ActionWatcher =>
  (name, input, { onOutput, onFailure }) => {
    let isOver = false
    runAction(name, input).then(
      output => isOver || onOutput(output),
      error => isOver || onFailure(error)
    )
    return () => {
      isOver = true
    }
  }

/** Returns the subject of an action: an id in its input or output, and nothing else of them. */
const actionSubjectOf = (...sources: readonly JsonObject[]): { readonly subject?: string } => {
  for (const name of ['walletId', 'fromWalletId', 'accountId', 'repoId', 'roundId', 'draftId', 'quoteId']) {
    for (const source of sources) {
      const id = Object.hasOwn(source, name) ? source[name] : undefined
      if (typeof id === 'string' && id.length <= MAX_ID) return { subject: id }
    }
  }
  return {}
}

const MAX_ID = 100

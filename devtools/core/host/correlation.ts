import type { ActionName } from '../../../app/actions/actions.ts'
import type { Clock, JsonObject } from '../../../kernel/index.ts'
import type { FactName, Facts } from '../model/facts.ts'

/** An action of a panel, or a payment of anyone, while it goes on and for a moment after. */
export interface RunningAction {
  /** Its correlation id; that of the payment or the round of quotes that it makes, once that is known. */
  readonly id: string
}

/**
 * Finds the action that an event belongs to.
 *
 * The kernel knows the payment, the round of quotes and the round of rates of an event. What else an action sets in motion
 * carries no id of its own: it counts as a part of the newest action that is about the same wallet, account, repo or round, while
 * that goes on and for six seconds after, in which a file is uploaded and a history reported.
 */
export class ActionCorrelation {
  readonly #clock: Pick<Clock, 'now'>
  readonly #roundOf: (quoteId: string) => string | undefined
  /** The newest last. */
  #actions: Action[] = []
  /** The subjects of each draft, for the action that approves it. */
  readonly #drafts = new Map<string, ReadonlySet<string>>()
  readonly #seen = new Set<string>()
  #count = 0
  #lastEvent: { readonly hook: FactName; readonly id: string | undefined } | undefined

  /** @param roundOf - the round that a quote is of */
  constructor(clock: Pick<Clock, 'now'>, roundOf: (quoteId: string) => string | undefined) {
    this.#clock = clock
    this.#roundOf = roundOf
  }

  /** An action begins. */
  begin(name: ActionName, input: JsonObject): RunningAction {
    this.#count += 1
    const ids = new Set(idsIn(input))
    for (const id of this.#drafts.get(String(input.draftId ?? '')) ?? []) ids.add(id)
    const round = typeof input.quoteId === 'string' ? this.#roundOf(input.quoteId) : undefined
    const id = round ?? `action-${this.#count.toString(36).padStart(4, '0')}`
    const action: Action = { id, name, ids, endedAt: undefined, hasOwnId: false }
    this.#add(action)
    return action
  }

  /** An action has ended. @param output - undefined of one that failed */
  end(running: RunningAction, output?: JsonObject): void {
    const action = running as Action
    action.endedAt = this.#clock.now()
    if (typeof output?.roundId === 'string') action.id = output.roundId
    if (typeof output?.draftId !== 'string') return
    this.#drafts.set(output.draftId, new Set([...action.ids, ...idsIn(output), ...idsIn(output.review)]))
    const [oldest] = this.#drafts.keys()
    if (this.#drafts.size > MAX_DRAFTS && oldest !== undefined) this.#drafts.delete(oldest)
  }

  /** The correlation id of an event; undefined of one that belongs to no action. */
  idOf<F extends FactName>(hook: F, fact: Facts[F]): string | undefined {
    const id = this.#ownIdOf(hook, fact) ?? this.#actionOf(hook, fact)?.id
    if (hook !== 'tapRan') this.#lastEvent = { hook, id }
    return id
  }

  /** Returns the id that the kernel gives the event itself. */
  #ownIdOf(hook: FactName, fact: object): string | undefined {
    const { correlationId, roundId } = fact as Fields
    if (hook === 'spendChanged' && typeof correlationId === 'string')
      this.#onPayment(correlationId, fact as Fields)
    if (typeof correlationId === 'string') return correlationId
    if (hook === 'quoteChanged' && typeof roundId === 'string') return roundId
    // Taps of an observer hook run right after, or before, the devtools' own.
    const { hook: tapped } = fact as Fields
    return hook === 'tapRan' && this.#lastEvent?.hook === tapped ? this.#lastEvent?.id : undefined
  }

  /** A payment is an action of its own, whoever makes it, and the one that approved it is known by its id. */
  #onPayment(id: string, { walletId, stage }: Fields): void {
    const isOver = stage === 'saved' || stage === 'refused'
    const known = this.#actions.findLast(action => action.id === id)
    if (known !== undefined) {
      if (isOver && known.name === undefined) known.endedAt = this.#clock.now()
      return
    }
    if (typeof walletId !== 'string') return
    const approving = this.#actions.findLast(
      action =>
        (action.name === 'spend.approve' || action.name === 'swap.approve') &&
        action.endedAt === undefined &&
        !action.hasOwnId &&
        action.ids.has(walletId)
    )
    if (approving === undefined)
      this.#add({ id, name: undefined, ids: new Set([walletId]), endedAt: undefined, hasOwnId: true })
    else {
      approving.id = id
      approving.hasOwnId = true
    }
  }

  #actionOf(hook: FactName, fact: object): Action | undefined {
    if (this.#actions.length === 0) {
      this.#see(fact as Fields)
      return undefined
    }
    const now = this.#clock.now()
    this.#actions = this.#actions.filter(({ endedAt }) => endedAt === undefined || now - endedAt < LINGER_MS)
    const isNew = this.#see(fact as Fields)
    return this.#actions.findLast(action => isPartOf(action, { hook, fact: fact as Fields, isNew }))
  }

  /** Returns true if the wallet or account of an event was not seen before. */
  #see({ walletId, accountId }: Fields): boolean {
    const id = walletId ?? accountId
    if (typeof id !== 'string' || this.#seen.has(id)) return false
    if (this.#seen.size < MAX_SEEN) this.#seen.add(id)
    return true
  }

  #add(action: Action): void {
    this.#actions.push(action)
    if (this.#actions.length > MAX_ACTIONS) this.#actions.shift()
  }
}

interface Action extends RunningAction {
  id: string
  /** Undefined of a payment that no panel approved. */
  readonly name: ActionName | undefined
  /** The ids of its wallets, accounts, repos, rounds and currencies. */
  readonly ids: Set<string>
  /** Unix milliseconds. */
  endedAt: number | undefined
  /** It is known by the id of its payment. */
  hasOwnId: boolean
}

type Fields = Readonly<Record<string, unknown>>

interface Event {
  readonly hook: FactName
  readonly fact: Fields
  /** Its wallet or account was not seen before. */
  readonly isNew: boolean
}

const isPartOf = (action: Action, { hook, fact, isNew }: Event): boolean => {
  const { name, ids, endedAt } = action
  if (name !== undefined && hooksOf(name).includes(String(hook === 'tapRan' ? fact.hook : hook))) {
    if (typeof fact.accountId === 'string') ids.add(fact.accountId)
    return true
  }
  if (hook === 'tapRan' || hook === 'logged' || hook === 'pluginFault') return false
  const { walletId, accountId, repoId, roundId, pluginId } = fact
  const isOpening = name === 'account.create' || name === 'account.login' || name === 'wallet.create'
  // What is new while something is being made or opened is a part of it.
  if (isOpening && endedAt === undefined && isNew) {
    ids.add(String(walletId ?? accountId))
    return true
  }
  if (has(ids, walletId) || has(ids, repoId) || has(ids, roundId)) return true
  // A wallet is of an account, and not all of an account is about one wallet.
  if (walletId === undefined || isOpening) {
    if (has(ids, accountId)) return true
  }
  return hook === 'engineChanged' && name === 'world.mine' && has(ids, pluginId)
}

const has = (ids: ReadonlySet<string>, id: unknown): boolean => typeof id === 'string' && ids.has(id)

/** The hooks that belong to an action whatever they are about: nothing else in a kernel calls them meanwhile. */
const hooksOf = (name: ActionName): readonly string[] => {
  if (name === 'account.create' || name === 'account.login')
    return ['loginChanged', 'usersChanged', 'accountChanged', 'makeTools', 'builtinTokens', 'makeEngine']
  if (name === 'account.logout') return ['usersChanged']
  if (name === 'wallet.create') return ['makeTools', 'makeEngine']
  if (name === 'rates.route' || name === 'rates.refresh') return ['routeFound', 'ratesChanged', 'fetchRates']
  return name === 'world.network' ? ['worldChanged', 'engineChanged'] : []
}

/** The ids of things in an input or a result. */
const idsIn = (value: unknown): readonly string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, id]) =>
        ID_NAMES.has(name) && typeof id === 'string' ? [id] : []
      )

const ID_NAMES: ReadonlySet<string> = new Set([
  ...['walletId', 'fromWalletId', 'toWalletId', 'accountId', 'repoId', 'roundId', 'pluginId']
])

const LINGER_MS = 6000
const MAX_ACTIONS = 100
const MAX_DRAFTS = 100
const MAX_SEEN = 50_000

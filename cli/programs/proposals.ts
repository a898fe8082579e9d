import {
  compact,
  type JsonObject,
  type SpendInfo,
  type Transaction,
  type WalletId
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { readState, writeState } from '../profile/state-files.ts'
import type { ProgramClient } from './clients.ts'

/**
 * `waiting` for a person; `sending` after a yes; `sent`; `refused`: nothing was signed and nothing will be; `unsure`: signed
 * bytes exist, and may have left.
 */
export type ProposalState = 'waiting' | 'sending' | 'sent' | 'refused' | 'unsure'

/** The verdict of the rules of the account on a payment of a program. */
export interface ProposalPolicy {
  /** True if a rule that names the client allows it, and no rule refuses it. */
  readonly isAllowed: boolean
  /** The rule that refuses it. */
  readonly rule?: string
  /** ISO time from which it would be allowed. */
  readonly allowedAt?: string
  /** The command with which a person approves it on another device, if it waits for that. */
  readonly secondDevice?: string
}

/** A payment that a program proposes, and nobody has signed. */
export interface Proposal {
  /** Never used again, so that a yes cannot mean another proposal. */
  readonly id: string
  /** The name and id of the client. */
  readonly client: Pick<ProgramClient, 'id' | 'name'>
  readonly device: string
  readonly loginId: string
  readonly walletId: WalletId
  /** The request that a new draft is made of, if this one cannot be signed any more. */
  readonly spend: SpendInfo
  readonly draft: Transaction
  /** What the program says that it is for; a text from outside. */
  readonly note?: string
  /** What the program is shown of the payment. */
  readonly review: JsonObject
  /** What the rules of the account say of it, for a client that may spend. */
  readonly policy?: ProposalPolicy
  /** Unix milliseconds. */
  readonly created: number
  readonly ends: number
  readonly state: ProposalState
  /** The stable code of a refusal or failure: `DECLINED`, `EXPIRED`, `CANCELLED`, `CLIENT_REFUSED`, `POLICY`, or an error's. */
  readonly reason?: string
  readonly txid?: string
}

/** A proposal to add. */
export type NewProposal = Omit<Proposal, 'created' | 'ends' | 'id' | 'reason' | 'state' | 'txid'> & {
  readonly lifeMs: number
}

/** The end of a proposal. */
export type ProposalOutcome =
  | { readonly state: 'sent'; readonly txid: string }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'unsure'; readonly reason: string; readonly txid?: string }

/** The most proposals of one client that wait at once. */
export const MAX_WAITING = 5
/** The ended proposals that are remembered. */
const MAX_ENDED = 200
/** The longest time of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1
const COUNTER = 'last-proposal.json'

/**
 * The proposals of all programs, in the memory of the agent.
 *
 * Each leaves `waiting` once: by {@link begin}, by a refusal, or by its end. After a restart of the agent there are none.
 */
export class Proposals {
  readonly #stateFolder: string
  readonly #now: () => number
  readonly #proposals = new Map<string, Proposal>()
  /** The numbers of proposals that are being made, by the ids of their clients. */
  readonly #making = new Map<string, number>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #listeners = new Set<(proposal: Proposal) => void>()

  /** @param stateFolder - keeps the last number @param now - Unix milliseconds, for tests */
  constructor(stateFolder: string, now: () => number = Date.now) {
    this.#stateFolder = stateFolder
    this.#now = now
  }

  /** Keeps a proposal that waits for a person. @throws CliError PROPOSALS_FULL if too many of its client wait already */
  add({ lifeMs, ...proposal }: NewProposal): Proposal {
    this.#checkRoom(proposal.client.id)
    const created = this.#now()
    const added: Proposal = {
      ...proposal,
      id: this.#nextId(),
      created,
      ends: created + lifeMs,
      state: 'waiting'
    }
    return this.#wait(added)
  }

  /**
   * Takes a place for a proposal that is being made, which costs requests and may ask another device.
   *
   * @returns gives the place back: just before {@link add}, or if there will be none
   * @throws CliError PROPOSALS_FULL if too many of a client wait already, or are being made
   */
  takePlace({ id }: Proposal['client']): () => void {
    const made = this.#making.get(id) ?? 0
    this.#checkRoom(id, made)
    this.#making.set(id, made + 1)
    let isTaken = true
    return () => {
      if (isTaken) this.#making.set(id, (this.#making.get(id) ?? 1) - 1)
      isTaken = false
      if (this.#making.get(id) === 0) this.#making.delete(id)
    }
  }

  /** All proposals, oldest first. */
  list(): readonly Proposal[] {
    this.#endOld()
    return [...this.#proposals.values()]
  }

  /** The proposals of a client that wait for a person. */
  waitingOf(clientId: string): readonly Proposal[] {
    return this.list().filter(({ client, state }) => client.id === clientId && state === 'waiting')
  }

  /** @param clientId - whose proposal it must be @throws CliError NOT_FOUND */
  find(id: string, clientId?: string): Proposal {
    this.#endOld()
    const found = this.#proposals.get(id)
    if (found !== undefined && (clientId === undefined || found.client.id === clientId)) return found
    throw new CliError('NOT_FOUND', 'There is no such proposal', {
      next: [{ command: 'holdfast proposals list', why: 'see the proposals' }]
    })
  }

  /** Lets a proposal wait again, with another draft, whose first one was refused before it was signed. */
  renew(id: string, renewed: Pick<Proposal, 'draft' | 'review'>): Proposal {
    const { reason: _, ...proposal } = this.find(id)
    return this.#wait({ ...proposal, ...renewed, state: 'waiting' })
  }

  /** Begins to pay: from now on neither its end nor a cancellation stops it. @throws CliError NOT_FOUND, PROPOSAL_ENDED */
  begin(id: string): Proposal {
    return this.#leave(this.#waiting(id), { state: 'sending' })
  }

  /** Notes how a payment that was begun has ended. */
  finish(id: string, outcome: ProposalOutcome): Proposal {
    return this.#put({ ...this.find(id), ...outcome })
  }

  /** Refuses a proposal that waits. @throws CliError NOT_FOUND, PROPOSAL_ENDED */
  refuse(id: string, reason: string): Proposal {
    return this.#leave(this.#waiting(id), { state: 'refused', reason })
  }

  /** Refuses all proposals of a client that wait. @returns their number */
  refuseAll(clientId: string, reason: string): number {
    const waiting = this.waitingOf(clientId)
    for (const { id } of waiting) this.refuse(id, reason)
    return waiting.length
  }

  /** Waits until a proposal no longer has this state, or until the signal aborts; then returns it as it is. */
  async whenNot(state: ProposalState, { id }: Proposal, signal: AbortSignal): Promise<Proposal> {
    const isOver = (): boolean => signal.aborted || this.find(id).state !== state
    if (!isOver()) {
      await new Promise<void>(resolve => {
        const look = (): void => {
          if (!isOver()) return
          this.#listeners.delete(look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        this.#listeners.add(look)
        signal.addEventListener('abort', look)
      })
    }
    return this.find(id)
  }

  /** Calls a listener with each proposal that is new or has changed. @returns ends that */
  onChange(listener: (proposal: Proposal) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Ends the timers of an agent that ends. */
  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #checkRoom(clientId: string, made = 0): void {
    if (this.waitingOf(clientId).length + made < MAX_WAITING) return
    throw new CliError('PROPOSALS_FULL', `${MAX_WAITING} proposals of this client wait for an answer already`)
  }

  #waiting(id: string): Proposal {
    const found = this.find(id)
    if (found.state === 'waiting') return found
    throw new CliError('PROPOSAL_ENDED', `Proposal ${id} no longer waits for an answer`, {
      details: compact({ state: found.state, reason: found.reason, txid: found.txid })
    })
  }

  #wait(proposal: Proposal): Proposal {
    this.#setTimer(proposal)
    return this.#put(proposal)
  }

  #setTimer({ id, ends }: Proposal): void {
    const end = (): void => {
      this.#endOld()
      // A timer may run a moment before its time by the calendar, and has a longest one.
      const present = this.#proposals.get(id)
      if (present?.state === 'waiting') this.#setTimer(present)
    }
    const left = Math.max(1, ends - this.#now())
    const timer = setTimeout(end, Math.min(left, MAX_TIMER_MS))
    timer.unref()
    this.#timers.set(id, timer)
  }

  #leave(proposal: Proposal, change: Pick<Proposal, 'reason' | 'state'>): Proposal {
    clearTimeout(this.#timers.get(proposal.id))
    this.#timers.delete(proposal.id)
    return this.#put({ ...proposal, ...change })
  }

  #put(proposal: Proposal): Proposal {
    this.#proposals.set(proposal.id, proposal)
    const ended = [...this.#proposals.values()].filter(({ state }) => !OPEN.has(state))
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#proposals.delete(id)
    for (const listener of [...this.#listeners]) listener(proposal)
    return proposal
  }

  /** Ends what is over: also after a suspend of the machine, in which no timer runs. */
  #endOld(): void {
    const now = this.#now()
    for (const proposal of [...this.#proposals.values()]) {
      if (proposal.state === 'waiting' && proposal.ends <= now)
        this.#leave(proposal, { state: 'refused', reason: 'EXPIRED' })
    }
  }

  #nextId(): string {
    const { last } = readState(this.#stateFolder, COUNTER) ?? {}
    const next = (Number.isSafeInteger(last) ? (last as number) : 0) + 1
    writeState(this.#stateFolder, COUNTER, { last: next })
    return String(next)
  }
}

const OPEN: ReadonlySet<ProposalState> = new Set(['waiting', 'sending'])

import { useCallback, useState } from 'react'
import type { Action, ActionHandler } from '../../../app/actions/actions.ts'
import type { SpendDraftInput } from '../../../app/actions/spend-review.ts'
import { compact, type JsonObject, type Txid, type WalletId } from '../../../kernel/index.ts'
import type { DevtoolsClient } from '../../core/client/client.ts'
import { page } from './dom.ts'
import type { PanelFailure, PanelMemory, PanelState, RequestedRoute } from './panel-state.ts'
import { discard, type Review, type ReviewedDraft, useReview } from './review-state.ts'

/** The actions of the panel, and its messages. */
export interface PanelActions
  extends Pick<PanelState, 'attempt' | 'copy' | 'dismiss' | 'failure' | 'memory' | 'run' | 'say'> {
  /** The newest short message, such as `Copied`. */
  readonly said: string
  readonly review: Review
}

/** Does actions, keeps the newest failure and opens the review of a draft. All of it is forgotten with the client. */
export const usePanelActions = (client: DevtoolsClient): PanelActions => {
  const [done, setDone] = useState<Done>({ of: client, memory: NOTHING })
  const [said, say] = useState('')
  const review = useReview(client)
  const { open } = review
  if (done.of !== client) setDone({ of: client, memory: NOTHING })
  const fail = useCallback(
    (failure: PanelFailure | undefined) =>
      setDone(before => (before.of === client ? { ...before, failure } : before)),
    [client]
  )
  const attempt: PanelActions['attempt'] = useCallback(
    async (work, onFailure) => {
      fail(undefined)
      say('')
      try {
        return await work()
      } catch (error) {
        const failure = actionFailureOf(error)
        if (onFailure?.(failure) !== true) fail(failure)
        return undefined
      }
    },
    [fail]
  )
  const run: PanelState['run'] = useCallback(
    (name, input, onFailure) => {
      const action = withoutKeys({ name, input } as Action)
      const remember = (change: (memory: PanelMemory) => PanelMemory): void =>
        setDone(before => (before.of === client ? { ...before, memory: change(before.memory) } : before))
      const work = async (): Promise<Awaited<ReturnType<ActionHandler>>> => {
        const output = await (client.runAction as ActionHandler)(name, input)
        remember(memory => remembered(memory, action, output))
        const draft = draftOf(action, output)
        if (draft !== undefined && !open(draft)) {
          discard(client, draft)
          fail(ONE_REVIEW)
        }
        return output
      }
      return attempt(work, failure => {
        if (failure.details?.outcome === 'unknown') remember(memory => withSent(memory, action, undefined))
        return onFailure?.(failure) === true
      })
    },
    [client, attempt, fail, open]
  )
  const copy = useCallback((text: string) => copyText(text, say), [])
  const dismiss = useCallback(() => fail(undefined), [fail])
  const { failure, memory } = done
  return { run, attempt, copy, say, memory, failure, said, dismiss, review }
}

interface Done {
  /** The client of these results; those of another client are dropped. */
  readonly of: DevtoolsClient
  readonly failure?: PanelFailure | undefined
  readonly memory: PanelMemory
}

const ONE_REVIEW: PanelFailure = {
  code: 'ONE_REVIEW',
  message: 'A second review was dropped: only one can be open.',
  hint: 'Open it again after this one.'
}

const copyText = (text: string, say: (words: string) => void): void => {
  if (text === '') say('There is nothing open to copy')
  if (text === '' || page === undefined) return
  // A page that came over plain HTTP from elsewhere has no clipboard.
  const { clipboard }: Partial<Pick<Navigator, 'clipboard'>> = page.navigator
  const refused = (): void => say('The browser refused to copy')
  if (clipboard === undefined) refused()
  else clipboard.writeText(text).then(() => say('Copied'), refused)
}

/** Turns an error into a failure for a person. */
const actionFailureOf = (error: unknown): PanelFailure => {
  const { code, message, hint, details } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as Partial<Record<keyof PanelFailure, unknown>>
  return {
    code: typeof code === 'string' ? code : 'UNKNOWN',
    message: typeof message === 'string' ? message : 'It failed without a reason.',
    ...compact({
      hint: typeof hint === 'string' ? hint : undefined,
      details: typeof details === 'object' && details !== null ? (details as JsonObject) : undefined
    })
  }
}

const NOTHING: PanelMemory = { drafts: new Map(), rounds: new Map(), sent: new Map() }
// As many drafts and rounds as a kernel keeps open, and more.
const KEPT = 100

/** The action as it may be remembered: the state of a panel holds no private key. */
const withoutKeys = (action: Action): Action =>
  action.name === 'spend.sweep' ? { ...action, input: { ...action.input, privateKeys: [] } } : action

const draftInputOf = (action: ReviewedDraft['action']): SpendDraftInput => {
  if (action.name === 'spend.bump') return { bumped: action.input }
  return action.name === 'spend.sweep' ? { swept: action.input } : action.input
}

const walletOf = (
  made: Exclude<SpendDraftInput, { readonly proposalId: string } | { readonly quoteId: string }>
): WalletId => {
  if ('swept' in made) return made.swept.walletId
  return 'bumped' in made ? made.bumped.walletId : made.walletId
}

const isDrafting = (action: Action): action is ReviewedDraft['action'] => DRAFTING.has(action.name)

const DRAFTING: ReadonlySet<string> = new Set<ReviewedDraft['action']['name']>([
  'proposal.review',
  'spend.bump',
  'spend.draft',
  'spend.replace',
  'spend.sweep',
  'swap.review'
])

/** The draft that an action has made; undefined if it made none. */
const draftOf = (action: Action, output: object): ReviewedDraft | undefined =>
  isDrafting(action) && 'draftId' in output
    ? { ...(output as Pick<ReviewedDraft, 'draftId' | 'review'>), action }
    : undefined

/** Remembers what an action has made. */
const remembered = (memory: PanelMemory, action: Action, output: object): PanelMemory => {
  if (action.name === 'swap.ask' && 'roundId' in output) {
    return { ...memory, rounds: withEntry(memory.rounds, String(output.roundId), action.input) }
  }
  if (isDrafting(action) && 'draftId' in output) {
    return { ...memory, drafts: withEntry(memory.drafts, String(output.draftId), draftInputOf(action)) }
  }
  if (action.name === 'rates.route' && 'alternatives' in output) {
    return { ...memory, requested: { input: action.input, answer: output as RequestedRoute['answer'] } }
  }
  return 'txid' in output ? withSent(memory, action, String(output.txid)) : memory
}

/** Takes in what became of an approval; other actions change nothing. */
const withSent = (memory: PanelMemory, action: Action, txid: Txid | undefined): PanelMemory => {
  if (action.name !== 'spend.approve' && action.name !== 'swap.approve') return memory
  const made = memory.drafts.get(action.input.draftId)
  // The list of proposals tells how each ended.
  if (made === undefined || 'proposalId' in made) return memory
  const source = 'quoteId' in made ? made.quoteId : walletOf(made)
  return { ...memory, sent: withEntry(memory.sent, source, txid) }
}

const withEntry = <V>(map: ReadonlyMap<string, V>, id: string, value: V): ReadonlyMap<string, V> =>
  new Map([...map, [id, value] as const].slice(-KEPT))

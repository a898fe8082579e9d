import { accountActs } from './account-acts.ts'
import { ActionError } from './action-error.ts'
import { readInput } from './action-fields.ts'
import type { Act, ActionName, Actions } from './actions.ts'
import type { ActorPlace } from './actor-place.ts'
import { DraftShelf } from './draft-shelf.ts'
import { OpenRounds } from './open-rounds.ts'
import { rateActs } from './rate-acts.ts'
import { type SpendDraft, spendActs } from './spend-acts.ts'
import { type SwapDraft, swapActs } from './swap-acts.ts'
import { walletActs } from './wallet-acts.ts'
import { worldActs } from './world-acts.ts'

/** Does actions until it is closed; then every draft is declined, and every round of quotes closed. */
export type Actor = Act & { close(): void }

/**
 * Does the actions of a panel on a kernel.
 *
 * Inputs are checked here, whoever sends them. An actor approves only its own drafts; accounts are found wherever they
 * were opened. It refuses with an `ActionError` or with what the kernel throws; neither repeats a password or PIN.
 */
export const makeActor = (place: ActorPlace): Actor => {
  const spends = new DraftShelf<SpendDraft>({ io: place.io, drop() {} })
  const swaps = new DraftShelf<SwapDraft>({ io: place.io, drop: ({ answer }) => answer(false) })
  const rounds = new OpenRounds(roundId => swaps.discardThose(draft => draft.roundId === roundId))
  let isClosed = false
  const acts: Acts = {
    ...accountActs(place, ({ id }) => {
      spends.discardThose(({ account }) => account.id === id)
      swaps.discardThose(({ accountId }) => accountId === id)
      rounds.closeOf(id)
    }),
    ...walletActs(place),
    ...spendActs(place, spends),
    ...swapActs(place, { rounds, drafts: swaps }),
    ...rateActs(place),
    ...worldActs(place)
  }
  const act = async <K extends ActionName>(name: K, input: Actions[K]['in']): Promise<Actions[K]['out']> => {
    const read = readInput(name, input)
    if (isClosed)
      throw new ActionError({
        code: 'GONE',
        message: 'The devtools have been closed',
        details: { what: 'devtools' }
      })
    return acts[name](read)
  }
  return Object.assign(act, {
    close(): void {
      isClosed = true
      spends.close()
      swaps.close()
      rounds.closeAll()
    }
  })
}

type Acts = {
  readonly [K in ActionName]: (input: Actions[K]['in']) => Promise<Actions[K]['out']>
}

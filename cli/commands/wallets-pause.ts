import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { changePausedWallets } from '../profile/paused-wallets.ts'
import { findListings } from '../session/find-wallet.ts'
import { makeChange } from '../session/make-change.ts'
import type { Session } from '../session.ts'

/** Leaves the chains of wallets alone on this device, until they are resumed; what is known of them is shown. */
export const walletsPause: CommandRun = (session, ...texts) => changePaused(session, texts, true)

/** Looks at the chains of paused wallets again. */
export const walletsResume: CommandRun = (session, ...texts) => changePaused(session, texts, false)

const changePaused = async (
  session: Session,
  texts: readonly (string | undefined)[],
  isPaused: boolean
): Promise<CommandResult> => {
  const folder = session.paths.session
  const ids = (await findListings(session, texts)).map(({ walletId }) => walletId)
  const what = ids.length === 1 ? `The wallet ${ids[0]} is` : `${ids.length} wallets are`
  return makeChange(session, {
    doing: isPaused ? 'Pausing' : 'Resuming',
    done: `${what} ${isPaused ? 'paused' : 'looked at again'} on this device`,
    data: { walletIds: ids, paused: isPaused },
    call: async () => changePausedWallets(folder, ids, isPaused)
  })
}

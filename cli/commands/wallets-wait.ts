import { amountText, type CurrencyWallet, parseAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { isMax } from '../output/amounts.ts'
import { balanceJson, syncCell } from '../output/facts.ts'
import { findWallets } from '../session/find-wallet.ts'
import { explainedWait, untilReached } from '../session/until-synced.ts'
import { coinOf } from '../session/wallet-assets.ts'

/** Waits until wallets are as `--for` says, at most for `--timeout`; for scripts. */
export const walletsWait: CommandRun = async (session, ...texts) => {
  const goal = session.text('for') ?? 'synced'
  checkGoal(goal)
  const wallets = await findWallets(
    session,
    texts.filter(text => text !== undefined)
  )
  const tests = wallets.map(wallet => ({ wallet, isReached: testOf(goal, wallet) }))
  const asleep = wallets.find(wallet => wallet.getSnapshot().isPaused)
  if (asleep !== undefined) {
    throw new CliError('USAGE', `${asleep.name ?? asleep.id} is paused on this device, and reaches nothing`, {
      next: [{ command: `holdfast wallets resume ${asleep.id.slice(0, 8)}`, why: 'look at its chain again' }]
    })
  }
  await session
    .doing(`Waiting for ${goal}`, () =>
      Promise.all(tests.map(({ wallet, isReached }) => untilReached(wallet, isReached, session.signal)))
    )
    .catch((error: unknown) => {
      const late = tests.filter(({ isReached }) => !isReached())
      throw explainedWait(
        error,
        late.map(({ wallet }) => wallet)
      )
    })
  return {
    data: {
      for: goal,
      wallets: wallets.map(wallet => ({
        id: wallet.id,
        name: wallet.name,
        ratio: wallet.engine.getSnapshot().syncRatio,
        height: wallet.engine.getSnapshot().blockHeight,
        balance: balanceJson(wallet, coinOf(wallet))
      }))
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'STATE' },
        { title: 'HEIGHT', align: 'right' },
        { title: 'BALANCE', align: 'right' }
      ],
      rows: wallets.map(wallet => [
        wallet.name ?? wallet.id,
        syncCell(wallet.engine.getSnapshot()),
        String(wallet.engine.getSnapshot().blockHeight),
        amountText(wallet.balanceOf(null), coinOf(wallet))
      ]),
      empty: 'This account has no wallet yet. Make one with: holdfast wallets create bitcoin'
    }
  }
}

const GOAL = /^(?:synced|loaded|height=(\d{1,9})|balance=(.+))$/

const checkGoal = (goal: string): void => {
  const [, , balance] = GOAL.exec(goal) ?? []
  if (GOAL.test(goal) && (balance === undefined || !isMax(balance))) return
  throw new CliError('USAGE', 'What can be waited for: synced, loaded, height=<n> or balance=<amount>', {
    hint: 'Such as --for height=122 or --for balance=0.5BTC; a height or balance that is exceeded counts, too.'
  })
}

const testOf = (goal: string, wallet: CurrencyWallet): (() => boolean) => {
  const [, height, balance] = GOAL.exec(goal) ?? []
  const engine = () => wallet.engine.getSnapshot()
  if (goal === 'loaded') return () => engine().state === 'started'
  if (height !== undefined) return () => engine().blockHeight >= Number(height)
  if (balance === undefined) return () => engine().syncRatio >= 1 && engine().failure === undefined
  const least = BigInt(parseAmount(balance, coinOf(wallet)))
  return () => BigInt(wallet.balanceOf(null)) >= least
}

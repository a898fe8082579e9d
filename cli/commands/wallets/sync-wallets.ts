import { walletActions } from '../../../app/actions/wallets.ts'
import { isMax } from '../../../app/format/amounts.ts'
import { amountText, type CurrencyWallet, compact, parseAmount } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import { balanceJson, syncCell } from '../../output/wallet-texts.ts'
import { coinOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { findListings, findWallet, findWallets, syncWallets } from '../../session/find-wallets.ts'
import { makeChange } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { explainedWait, untilReached } from '../../session/until-synced.ts'

/** Pauses wallets on this device: their chains are not scanned until they are resumed. */
export const walletsPause: CommandRun = (session, ...texts) => changePaused(session, texts, true)

/** Resumes paused wallets. */
export const walletsResume: CommandRun = (session, ...texts) => changePaused(session, texts, false)

const changePaused = async (
  session: Session,
  texts: readonly (string | undefined)[],
  isPaused: boolean
): Promise<CommandResult> => {
  const ids = (await findListings(session, texts)).map(({ walletId }) => walletId)
  const what = ids.length === 1 ? `The wallet ${ids[0]} is` : `${ids.length} wallets are`
  return makeChange(session, {
    doing: isPaused ? 'Pausing' : 'Resuming',
    done: `${what} ${isPaused ? 'paused' : 'synced from the beginning'} on this device`,
    data: { walletIds: ids, paused: isPaused },
    async call() {
      const action = isPaused ? walletActions['engine.pause'] : walletActions['engine.resume']
      for (const walletId of ids) await session.run(action, { walletId })
    }
  })
}

/** Discards the cached chain data of wallets and scans again, after a confirmation; notes and keys stay. */
export const walletsResync: CommandRun = async (session, ...texts) => {
  const found = await Promise.all(texts.map(text => findWallet(session, text ?? '')))
  const wallets = [...new Set(found)]
  const walletIds = wallets.map(({ id }) => id)
  const names = wallets.map(({ id, name }) => name ?? id).join(', ')
  const { dryRun } = session.globals
  if (!dryRun) {
    await confirm(session, {
      question: `Sync from the beginning of the chain: ${names}?`,
      summary: { walletIds }
    })
  }
  const warnings = dryRun ? [] : [...(await syncWallets(session, wallets))]
  for (const wallet of dryRun ? [] : wallets) {
    await session.withProgress(`Looking again: ${wallet.name ?? wallet.id}`, () =>
      session.run(walletActions['engine.resync'], { walletId: wallet.id })
    )
  }
  if (!dryRun) warnings.push(...(await syncWallets(session, wallets)))
  return {
    data: {
      dryRun,
      wallets: wallets.map(({ id, name, engine }) => {
        const { syncRatio, blockHeight } = engine.getSnapshot()
        return { id, name, ratio: syncRatio, height: blockHeight }
      })
    },
    warnings,
    view: {
      kind: 'table',
      columns: [{ title: 'NAME', canShrink: true }, { title: 'STATE' }, { title: 'HEIGHT', align: 'right' }],
      rows: wallets.map(wallet => {
        const engine = wallet.engine.getSnapshot()
        return [wallet.name ?? wallet.id, syncCell(engine), String(engine.blockHeight)]
      }),
      empty: ''
    },
    ...compact({ advice: dryRun ? ['Nothing was changed: --dry-run'] : undefined })
  }
}

/** Waits until wallets reach the goal of `--for`, at most for `--timeout`; for scripts. */
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
    throw new CliError(
      'USAGE',
      `${asleep.name ?? asleep.id} is paused on this device, so it cannot reach the goal`,
      {
        next: [
          { command: `holdfast wallets resume ${asleep.id.slice(0, 8)}`, why: 'sync it with its chain again' }
        ]
      }
    )
  }
  await session
    .withProgress(`Waiting for ${goal}`, () =>
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
      empty: 'This account has no wallet yet. Create one with: holdfast wallets create bitcoin'
    }
  }
}

const GOAL = /^(?:synced|loaded|height=(\d{1,9})|balance=(.+))$/

const checkGoal = (goal: string): void => {
  const [, , balance] = GOAL.exec(goal) ?? []
  if (GOAL.test(goal) && (balance === undefined || !isMax(balance))) return
  throw new CliError('USAGE', 'The goal must be synced, loaded, height=<n> or balance=<amount>', {
    hint: 'Such as --for height=122 or --for balance=0.5BTC; a greater height or balance counts, too.'
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

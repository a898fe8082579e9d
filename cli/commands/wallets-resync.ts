import type { CommandRun } from '../command.ts'
import { syncCell } from '../output/facts.ts'
import { confirm } from '../session/confirm.ts'
import { findWallet } from '../session/find-wallet.ts'
import { syncWallets } from '../session/sync-wallets.ts'

/** Forgets what is known of the chains of wallets and looks again, after a question; notes and keys stay. */
export const walletsResync: CommandRun = async (session, ...texts) => {
  const found = await Promise.all(texts.map(text => findWallet(session, text ?? '')))
  const wallets = [...new Set(found)]
  const walletIds = wallets.map(({ id }) => id)
  const names = wallets.map(({ id, name }) => name ?? id).join(', ')
  const { dryRun } = session.globals
  if (!dryRun) {
    await confirm(session, {
      question: `Forget what is known of the chain and look at all of it again: ${names}?`,
      summary: { walletIds }
    })
  }
  const warnings = dryRun ? [] : [...(await syncWallets(session, wallets))]
  for (const wallet of dryRun ? [] : wallets) {
    await session.doing(`Looking again: ${wallet.name ?? wallet.id}`, () => wallet.resyncBlockchain())
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
    ...(dryRun ? { advice: ['Nothing was changed: --dry-run'] } : {})
  }
}

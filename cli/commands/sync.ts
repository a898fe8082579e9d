import type { CommandRun } from '../command.ts'
import { syncCell } from '../output/facts.ts'
import { findWallets, usableWallets } from '../session/find-wallet.ts'

/** Exchanges the files of the account and its wallets with the sync server, and looks at the chain. */
export const sync: CommandRun = async (session, ...texts) => {
  const account = await session.account()
  const wanted = texts.filter(text => text !== undefined)
  if (wanted.length === 0 && usableWallets(account).length === 0)
    session.talk.say('This account has no wallet yet.')
  const wallets = await findWallets(session, wanted)
  session.talk.step('syncing…')
  await Promise.all(wallets.map(wallet => session.synced(wallet)))
  await session.within('Syncing', () => account.sync())
  return {
    data: {
      account: account.id,
      wallets: wallets.map(wallet => {
        const { syncRatio, blockHeight } = wallet.engine.getSnapshot()
        return { id: wallet.id, name: wallet.name, ratio: syncRatio, height: blockHeight }
      })
    },
    view: {
      kind: 'table',
      columns: [{ title: 'NAME', canShrink: true }, { title: 'STATE' }, { title: 'HEIGHT', align: 'right' }],
      rows: [
        [account.username ?? account.id, { text: 'synced', tone: 'good' }, ''],
        ...wallets.map(wallet => {
          const engine = wallet.engine.getSnapshot()
          return [wallet.name ?? wallet.id, syncCell(engine), String(engine.blockHeight)]
        })
      ],
      empty: ''
    }
  }
}

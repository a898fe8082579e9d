import type { CommandRun } from '../command.ts'
import { parsePairs } from '../grammar/values.ts'
import { syncCell, walletJson } from '../output/facts.ts'

/** Makes a wallet with new keys. */
export const walletsCreate: CommandRun = async (session, type = '') => {
  const account = await session.account()
  const walletType = type.startsWith('wallet:') ? type : `wallet:${type}`
  const name = session.text('name')
  const fiat = session.text('fiat')
  const keyOptions = parsePairs(session.texts('keyOption'), 'key option')
  session.talk.step('making the wallet…')
  const wallet = await session.within('Making the wallet', () =>
    account.createCurrencyWallet(walletType, {
      ...(name === undefined ? {} : { name }),
      ...(fiat === undefined ? {} : { fiatCurrencyCode: fiat }),
      ...(Object.keys(keyOptions).length === 0 ? {} : { keyOptions })
    })
  )
  await session.synced(wallet)
  await session.within('Saving the wallet', () => wallet.sync())
  const { publicAddress } = await wallet.getReceiveAddress()
  const listing = account.listWallets().find(({ walletId }) => walletId === wallet.id)
  return {
    data: {
      wallet: listing === undefined ? { id: wallet.id } : walletJson(wallet, listing),
      address: publicAddress
    },
    view: {
      kind: 'record',
      fields: [
        ['id', wallet.id],
        ['name', wallet.name ?? ''],
        ['type', wallet.type],
        ['address', publicAddress],
        ['state', syncCell(wallet.engine.getSnapshot())]
      ]
    }
  }
}

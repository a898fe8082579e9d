import { ActionError } from './action-error.ts'
import { type ActorPlace, type ActsOf, accountOf, openIn, walletOf } from './actor-place.ts'

/** Wallets, their engines and their files. */
export const walletActs = (place: ActorPlace): ActsOf<'wallet' | 'engine' | 'repo'> => ({
  async 'wallet.create'({ accountId, walletType, name }) {
    const account = accountOf(place, accountId)
    const wallet = await account.createCurrencyWallet(walletType, name === undefined ? {} : { name })
    return { walletId: wallet.id }
  },
  async 'wallet.receive'({ walletId }) {
    const { wallet } = await walletOf(place, walletId)
    const { publicAddress } = await wallet.getReceiveAddress()
    return { publicAddress, uri: await wallet.encodeUri({ publicAddress }) }
  },
  'engine.pause': ({ walletId }) => changePaused(place, walletId, true),
  'engine.resume': ({ walletId }) => changePaused(place, walletId, false),
  async 'engine.resync'({ walletId }) {
    const { wallet } = await walletOf(place, walletId)
    await wallet.resyncBlockchain()
    return {}
  },
  async 'repo.sync'({ repoId }) {
    await syncRepo(place, repoId)
    return {}
  }
})

const changePaused = async (
  place: ActorPlace,
  walletId: string,
  isPaused: boolean
): Promise<Record<string, never>> => {
  const { wallet } = await walletOf(place, walletId)
  // First, since a disk can refuse it: what failed has changed nothing.
  place.pausedWallets?.change(walletId, isPaused)
  await wallet.changePaused(isPaused)
  return {}
}

/** A wallet is synced alone; the files of an account go with all that belongs to it. */
const syncRepo = async (place: ActorPlace, repoId: string): Promise<void> => {
  for (const account of place.context.accounts) {
    const repo = account.listRepos().find(each => each.repoId === repoId)
    if (repo === undefined) continue
    const isWallet = account.listWallets().some(one => one.isWallet && one.walletId === repo.ownerId)
    if (!isWallet) return account.sync()
    return (await openIn(place, account, repo.ownerId)).sync()
  }
  throw new ActionError({ code: 'GONE', message: 'This repo is not open', details: { what: 'repo' } })
}

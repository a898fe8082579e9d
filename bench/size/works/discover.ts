import { check } from '../../section.ts'
import type { Work } from '../job.ts'

/** The network shows new incoming transactions to an empty wallet. Step `durable`: until each has its file. */
export const discover: Work = async ({ device, user, newCount, stepUntil }) => {
  const account = await device.loginWithKey()
  // Its engine is started, too.
  check((await account.openAllWallets()) === user.walletCount, 'how many wallets are usable')
  const wallet = await account.openFirstWallet()
  await device.goOffline()
  await stepUntil('durable', wallet.discovery(0, newCount))
  const keptCount = await wallet.keptCount()
  check(keptCount === newCount, `${keptCount} of ${newCount} new transactions were kept`)
}

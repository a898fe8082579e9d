import { check } from '../../section.ts'
import type { Work } from '../job.ts'

/** Step `uploaded`: changed files are brought to the server, one request after another. */
export const upload: Work = async ({ device, user, newCount, step }) => {
  const account = await device.loginWithPassword()
  // Its engine is started, too.
  check((await account.openAllWallets()) === user.walletCount, 'how many wallets are usable')
  const wallet = await account.openFirstWallet()
  await device.goOffline()
  await wallet.changeFiles(newCount)
  await device.goOnline()
  globalThis.gc?.()
  await step('uploaded', () => wallet.upload())
  const uploadedCount = await wallet.uploadedCount()
  check(uploadedCount === newCount, `the server has ${uploadedCount} of ${newCount} files`)
}

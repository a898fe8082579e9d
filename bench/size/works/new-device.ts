import { check } from '../../section.ts'
import type { Work } from '../job.ts'

/** Step `fetched`: a login by password on a device that has never seen the account, until it has a whole repo. */
export const newDevice: Work = async ({ device, user, step }) => {
  const wallet = await step('fetched', async () => {
    const account = await device.loginWithPassword()
    return account.openFirstWallet()
  })
  const fetchedCount = await wallet.fetchedCount()
  check(
    fetchedCount === user.transactionCount,
    `a new device has ${fetchedCount} of ${user.transactionCount} files`
  )
}

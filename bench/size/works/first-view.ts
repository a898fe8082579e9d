import { check } from '../../section.ts'
import { txidOf } from '../bench-coin.ts'
import type { Work } from '../job.ts'

/** What a user sees first. Step `view`: login by key, opening the wallet, the newest 20 transactions. */
export const firstView: Work = async ({ device, user, step }) => {
  const page = await step('view', async () => {
    const account = await device.loginWithKey()
    const wallet = await account.openFirstWallet()
    return wallet.page(0, 20)
  })
  check(page.length === 20, 'the length of the first page')
  check(page[0]?.txid === txidOf(user.transactionCount - 1), 'the newest transaction')
}

import { check } from '../../section.ts'
import { txidOf } from '../bench-coin.ts'
import type { Work } from '../job.ts'

/**
 * Searches a whole history. Steps `cold`: the first search, without a hit; `warm`: the same again; `one`: one hit;
 * `first`: the newest 20 of many.
 */
export const search: Work = async ({ device, user, folder, step }) => {
  const account = await device.loginWithKey()
  const wallet = await account.openFirstWallet()
  const miss = 'no such text anywhere'
  const cold = await step('cold', () => wallet.search(miss))
  check(cold.length === 0, 'a search without a hit')
  for (let round = 0; round < (folder === undefined ? 1 : 5); round++) {
    check((await step('warm', () => wallet.search(miss))).length === 0, 'a second search without a hit')
  }
  const number = Math.floor(user.transactionCount / 3)
  const one = await step('one', () => wallet.search(`payment number ${number} for`))
  check(one.length === 1 && one[0]?.txid === txidOf(number), 'a search with one hit')
  const first = await step('first', () => wallet.searchFirst('coffee', 20))
  check(first.length === 20, 'the newest 20 hits')
}

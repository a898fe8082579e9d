import { check } from '../../section.ts'
import { noteOf, txidOf } from '../bench-coin.ts'
import type { Work } from '../job.ts'
import type { SideTransaction } from '../side.ts'

/**
 * Lists a whole history. Steps `page`: 20 from anywhere; `all`: everything, the first time.
 *
 * Fact `notedCount`: how many of the 20 in the middle came with their note. Ours must all have it.
 */
export const list: Work = async ({ device, user, folder, step, fact }) => {
  const count = user.transactionCount
  const account = await device.loginWithKey()
  const wallet = await account.openFirstWallet()
  check((await wallet.page(0, 20)).length === 20, 'the first page')
  for (const place of PLACES) {
    const start = Math.floor(count * place)
    const page = await step('page', () => wallet.page(start, 20))
    check(page.length === 20 && page[0]?.txid === txidOf(count - 1 - start), 'a page')
    const notedCount = page.filter((tx, i) => isNoted(tx, count - 1 - start - i)).length
    if (place === PLACES[0]) fact('notedCount', notedCount)
    check(folder === undefined || notedCount === 20, 'the notes of a page')
  }
  const all = await step('all', () => wallet.all())
  check(all.length === count && all.at(-1)?.txid === txidOf(0), 'the whole list')
  check(all.filter((tx, i) => isNoted(tx, count - 1 - i)).length === count, 'the notes of the whole list')
}

const PLACES = [0.5, 0.25, 0.75, 0.1, 0.9]

const isNoted = ({ metadata }: SideTransaction, number: number): boolean => metadata?.notes === noteOf(number)

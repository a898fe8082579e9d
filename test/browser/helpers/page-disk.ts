import { base64 } from '@scure/base'
import type { Page } from 'playwright-core'
import { compact } from '../../../kernel/base/compact.ts'
import { WalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import type { Store } from '../../../kernel/io/store.ts'
import { storeDisk } from '../../../kernel/store/store-disk.ts'
import type { Answer, Parts } from '../page/parts-page.ts'

declare const parts: Parts

/**
 * Opens a store in a page, as a store here: each call goes to the page and its errors come back as they were.
 *
 * @throws what the page's store throws at opening
 */
export const openPageStore = async (
  page: Page,
  name: string,
  importsLocalStorage = false
): Promise<Store> => {
  const opened = await page.evaluate(([name, imports]) => parts.openStore(name, imports), [
    name,
    importsLocalStorage
  ] as const)
  valueIn(opened)
  return {
    async getMany(keys) {
      const answer = await page.evaluate(([name, keys]) => parts.getMany(name, keys), [
        name,
        keys.map(base64.encode)
      ] as const)
      return (valueIn(answer) as (string | null)[]).map(value =>
        value === null ? undefined : base64.decode(value)
      )
    },
    async batch(changes) {
      const sent = changes.map(
        ({ key, value }) => [base64.encode(key), value === undefined ? null : base64.encode(value)] as const
      )
      valueIn(await page.evaluate(([name, sent]) => parts.batch(name, sent), [name, sent] as const))
    },
    async keys({ after, before, ...rest }) {
      const range = {
        ...rest,
        ...compact({ after: after && base64.encode(after), before: before && base64.encode(before) })
      }
      const answer = await page.evaluate(([name, range]) => parts.keys(name, range), [name, range] as const)
      return (valueIn(answer) as string[]).map(base64.decode)
    },
    async close() {
      valueIn(await page.evaluate(name => parts.close(name), name))
    }
  }
}

/** The disk of {@link openPageStore}. */
export const openPageDisk = async (page: Page, name: string, importsLocalStorage = false): Promise<Disk> =>
  storeDisk(await openPageStore(page, name, importsLocalStorage))

const valueIn = (answer: Answer): unknown => {
  if ('value' in answer) return answer.value
  throw new WalletError(answer.code as 'STORAGE_FAILED', answer.details as { path: string; reason: string })
}

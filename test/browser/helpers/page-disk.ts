import type { Page } from 'playwright-core'
import { WalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import type { Answer, Parts } from '../page/parts-page.ts'

declare const parts: Parts

/**
 * Opens a disk in a page, as a disk here: each call goes to the page and its errors come back as they were.
 *
 * @throws what the page's disk throws at opening
 */
export const openPageDisk = async (page: Page, name: string, importsLocalStorage = false): Promise<Disk> => {
  valueIn(
    await page.evaluate(([name, imports]) => parts.openDisk(name, imports), [
      name,
      importsLocalStorage
    ] as const)
  )
  const call = async (method: keyof Disk, ...args: readonly unknown[]): Promise<unknown> =>
    valueIn(
      await page.evaluate(([name, method, args]) => parts.callDisk(name, method, args), [
        name,
        method,
        args
      ] as const)
    )
  return {
    getText: path => call('getText', path) as Promise<string | undefined>,
    setText: (path, text) => call('setText', path, text) as Promise<void>,
    delete: path => call('delete', path) as Promise<void>,
    list: folder => call('list', folder) as Promise<string[]>,
    close: () => call('close') as Promise<void>
  }
}

const valueIn = (answer: Answer): unknown => {
  if ('value' in answer) return answer.value
  throw new WalletError(answer.code as 'STORAGE_FAILED', answer.details as { path: string; reason: string })
}

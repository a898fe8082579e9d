/// <reference lib="dom" />
// The page that has everything inside: a wallet, the fake world that it lives in, and the panel.
import { isWalletError } from '../../kernel/index.ts'
import { makeBrowserIo } from '../../platform/browser/index.ts'
import { mountDevtools } from '../react/mount-devtools.tsx'
import { keepForGood } from './keep-for-good.ts'
import { openStandalone } from './open-standalone.ts'
import { startScryptWorker } from './start-worker.ts'

const place = document.querySelector<HTMLElement>('#devtools') ?? document.body

const tell = (text: string): void => {
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.setAttribute('role', 'status')
  notice.textContent = text
  place.replaceChildren(notice)
}

const failureText = (error: unknown): string => {
  if (isWalletError(error, 'STORAGE_LOCKED'))
    return 'These devtools are open in another tab. Close that one, then reload this page.'
  if (isWalletError(error, 'STORAGE_FAILED'))
    return `This browser lets the page keep nothing, as some private windows do: open it in another window. ${error.message}`
  return `The wallet of this page could not start: ${error instanceof Error ? error.message : String(error)}`
}

const start = async (): Promise<void> => {
  tell('Starting a wallet and its world…')
  const io = makeBrowserIo({ scryptWorker: startScryptWorker })
  const { kernel, world } = await openStandalone({ io, name: 'holdfast-devtools' })
  keepForGood(kernel.context, navigator.storage)
  place.replaceChildren()
  mountDevtools(place, kernel, { world, ownsPage: true })
}

start().catch(error => tell(failureText(error)))

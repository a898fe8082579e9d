/// <reference lib="dom" />
// The page that has everything inside: a wallet, the fake world that it lives in, and the panel.

import { isWalletError } from '../../kernel/index.ts'
import { makeBrowserIo } from '../../platform/browser/index.ts'
import { mountDevtools } from '../react/mount-devtools.tsx'
import { openStandalone, persistStorage } from './open-standalone.ts'

const place = document.querySelector<HTMLElement>('#devtools') ?? document.body

const showStatus = (text: string): void => {
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
    return `This browser does not let the page store data, as in some private windows: open it in another window. ${error.message}`
  return `The wallet of this page could not start: ${error instanceof Error ? error.message : String(error)}`
}

/// <reference lib="dom" />

/**
 * Starts the worker of this page that derives keys of passwords.
 *
 * The page requires Trusted Types, and the one policy that it allows lets nothing through but this worker.
 */
const startScryptWorker = (): Worker => {
  allowWorker?.()
  allowWorker = undefined
  return new Worker(new URL('../../platform/browser/scrypt-worker.ts', import.meta.url), { type: 'module' })
}

/** The part of the Trusted Types standard that is used here; browsers without it have none. */
interface TrustedTypes {
  createPolicy(name: 'default', rules: { createScriptURL(address: string): string }): unknown
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }

let allowWorker: (() => void) | undefined = () => {
  trustedTypes?.createPolicy('default', {
    createScriptURL: address => {
      const { origin, pathname } = new URL(address, location.href)
      if (origin === location.origin && WORKER.test(pathname)) return address
      throw new TypeError('This page loads no other script')
    }
  })
}

/** Under its name among the sources, or as built. */
const WORKER = /\/scrypt-worker\.(?:ts|js)$/

declare global {
  interface ImportMeta {
    /** Of the bundler: true in its development server. */
    readonly env: { readonly DEV: boolean }
  }
}

const start = async (): Promise<void> => {
  showStatus('Starting a wallet and its world…')
  const io = makeBrowserIo({ scryptWorker: startScryptWorker })
  // The built page is loaded from anywhere, and knows no profile.
  const found = import.meta.env.DEV
    ? await (await import('./profile-plugins.ts')).loadProfilePlugins(place)
    : {}
  const { kernel, world } = await openStandalone({ io, name: 'holdfast-devtools', ...found })
  persistStorage(kernel.context, navigator.storage)
  place.replaceChildren()
  mountDevtools(place, kernel, { world, ownsPage: true })
}

start().catch(error => showStatus(failureText(error)))

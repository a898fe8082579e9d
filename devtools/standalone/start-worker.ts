/// <reference lib="dom" />

/**
 * Starts the worker of this page that derives keys of passwords.
 *
 * The page requires Trusted Types, and the one policy that it allows lets nothing through but this worker.
 */
export const startScryptWorker = (): Worker => {
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

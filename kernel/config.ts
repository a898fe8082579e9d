import { WalletError } from './base/errors.ts'

/**
 * Checks the address of a configured server: http on localhost only, https on localhost, `edge.app`,
 * `edgetest.app` and their subdomains (specification §2, protocol §2.1). Ports and paths are free.
 *
 * Refuses credentials in the address, which would let it name one host and mean another.
 *
 * @throws WalletError LOGIN_DOMAIN naming the host
 */
export const checkServerAddress = (url: string): void => {
  const [, scheme, host = '', port = '0'] = ADDRESS.exec(url)?.map(part => part?.toLowerCase()) ?? []
  const isKnown = scheme === 'http' ? host === 'localhost' : HTTPS_HOST.test(host)
  if (!isKnown || Number(port) > 65535) throw new WalletError('LOGIN_DOMAIN', { host: hostOf(url) })
}

const ADDRESS = /^(https?):\/\/([\w.-]{1,253})(?::(\d{1,5}))?(?:[/?#][!-~]*)?$/i

const HTTPS_HOST = /^(?:localhost|(?:[\w-]+\.)*edge(?:test)?\.app)$/

/** Only for the message: what stands where the host belongs, without credentials. */
const hostOf = (url: string): string => {
  const authority = url.replace(/^[^/]*\/\//, '').split(/[/?#]/, 1)[0] ?? ''
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .slice(0, 100)
}

import type { TcpAddress } from '../../../../kernel/plugin-api.ts'

/** Where an Electrum server listens: a TCP address, or a WebSocket URL. */
export type ElectrumServer =
  | { readonly url: string; readonly tcp: TcpAddress }
  | { readonly url: string; readonly webSocket: string }

/** Reads `tcp://host:port`, `tls://host:port`, `ws://…` or `wss://…`; undefined for anything else. */
export const readServerUrl = (url: string): ElectrumServer | undefined => {
  if (url.length > 300) return undefined
  if (/^wss?:\/\/[^\s]+$/.test(url)) return { url, webSocket: url }
  const match = /^(tcp|tls|ssl):\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i.exec(url)
  if (match === null) return undefined
  const [, scheme = '', host = '', port = ''] = match
  if (Number(port) < 1 || Number(port) > 65535) return undefined
  const isTls = scheme.toLowerCase() !== 'tcp'
  return { url, tcp: { host: host.replace(/^\[|\]$/g, ''), port: Number(port), isTls } }
}

import type { FetchOptions, FetchReply, Io } from '../kernel/io/io.ts'
import type { FakeServer } from './fake-server.ts'

/** Where requests go that are not for the fake server. */
export interface FakeFetchOptions {
  /** Asked for all other hosts; without it they are out of reach, which is what tests and demonstrations want. */
  readonly elsewhere?: Io['fetch']
}

/**
 * A fetch that reaches the fake server inside this process under every address that the domain rule allows
 * (specification §2): localhost, `edge.app`, `edgetest.app` and their subdomains, with any port.
 *
 * Rejects with `Fake network error` while the server is offline, and when the signal aborts.
 */
export const fakeFetch = (server: FakeServer, { elsewhere }: FakeFetchOptions = {}): Io['fetch'] => {
  return async (url, options = {}) => {
    const path = pathOf(url)
    if (path !== undefined) return untilAborted(ask(server, path, options), options.signal)
    if (elsewhere !== undefined) return elsewhere(url, options)
    throw new Error('Fake network error')
  }
}

const ADDRESS =
  /^(?:https?:\/\/localhost|https:\/\/(?:[A-Za-z0-9_-]+\.)*edge(?:test)?\.app)(?::\d{1,5})?(\/[^#]*)?(?:#.*)?$/

const pathOf = (url: string): string | undefined => {
  const found = ADDRESS.exec(url)
  return found === null ? undefined : (found[1] ?? '/')
}

const ask = async (server: FakeServer, path: string, options: FetchOptions): Promise<FetchReply> => {
  const headers: [string, string][] = Object.entries(options.headers ?? {})
  const {
    status,
    headers: replied,
    body
  } = await server.handle({
    method: (options.method ?? 'GET').toUpperCase(),
    path,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: options.body ?? ''
  })
  return { status, headers: replied, text: body }
}

/** Waits for work, until the signal aborts. */
export const untilAborted = <T>(work: Promise<T>, signal: FetchOptions['signal']): Promise<T> => {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('The request was aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    const settle = (): void => signal.removeEventListener('abort', abort)
    work.then(resolve, reject).finally(settle)
  })
}

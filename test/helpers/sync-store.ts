import type { FetchOptions, FetchReply } from '../../kernel/io/io.ts'
import type { Box } from '../../kernel/types/keys.ts'

/** One request that the store saw. */
export interface StoreCall {
  readonly url: string
  readonly method: string
  /** The paths of an upload. */
  readonly paths: readonly string[]
  readonly changes: object
}

/** What a test may make of a request before the store sees it: a reply of its own, or undefined to let it pass. */
export type StoreFault = (call: StoreCall) => Promise<FetchReply | undefined> | FetchReply | undefined

/** Sync servers in memory with one history, as a fetch function. */
export interface SyncStore {
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchReply>
  readonly calls: StoreCall[]
  /** The present files of the one repo. */
  readonly files: Map<string, Box>
  /** Changes files as another device would. */
  put(changes: Readonly<Record<string, Box | null>>): void
  fault: StoreFault | undefined
  /** Runs after an upload was stored and before its answer leaves. */
  beforeAnswer: (() => Promise<void>) | undefined
}

/** Makes a store. `takesNull: false` refuses deletions and `knowsHash: false` every hash, as a peer's fake does. */
export const makeSyncStore = (
  options: { readonly takesNull?: boolean; readonly knowsHash?: boolean } = {}
): SyncStore => {
  const { takesNull = true, knowsHash = true } = options
  const files = new Map<string, Box>()
  const history: string[][] = []
  const hashNow = (): string => history.length.toString(16).padStart(40, '0')

  const put = (changes: Readonly<Record<string, Box | null>>): void => {
    for (const [path, box] of Object.entries(changes)) {
      if (box === null) files.delete(path)
      else files.set(path, box)
    }
    history.push(Object.keys(changes))
  }

  const since = (hash: string): Record<string, Box | null> => {
    const paths = hash === '' ? files.keys() : history.slice(Number.parseInt(hash, 16)).flat()
    return Object.fromEntries([...paths].map(path => [path, files.get(path) ?? null]))
  }

  const answer = async (call: StoreCall, body: string | undefined): Promise<FetchReply> => {
    const hash = call.url.split('/').at(-1) ?? ''
    if (hash !== '' && (!knowsHash || Number.parseInt(hash, 16) > history.length)) return replyOf(404, {})
    if (call.method === 'POST') {
      const { changes } = JSON.parse(body ?? '{}') as { changes: Record<string, Box | null> }
      if (!takesNull && Object.values(changes).includes(null)) return replyOf(500, { success: false })
      put(changes)
      const reply = replyOf(200, { changes: since(hash), hash: hashNow() })
      await store.beforeAnswer?.()
      return reply
    }
    return replyOf(200, { changes: since(hash), hash: hashNow() })
  }

  const store: SyncStore = {
    files,
    calls: [],
    put,
    fault: undefined,
    beforeAnswer: undefined,
    async fetch(url, options = {}) {
      const { changes = {} } = JSON.parse(options.body ?? '{}') as { changes?: object }
      const call: StoreCall = { url, method: options.method ?? 'GET', paths: Object.keys(changes), changes }
      store.calls.push(call)
      // Requests of several devices interleave.
      await Promise.resolve()
      return (await store.fault?.(call)) ?? answer(call, options.body)
    }
  }
  return store
}

/** A reply with a JSON body. */
export const replyOf = (status: number, body: unknown): FetchReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  text: typeof body === 'string' ? body : JSON.stringify(body)
})

import type { FetchOptions, Io } from '../../kernel/index.ts'
import { type Cost, measure } from '../measure.ts'
import { pause } from '../wait.ts'

/** The requests of an io: they can be cut off, and made again without the kernel. */
export interface NotedNetwork {
  readonly io: Io
  /** Whether its servers are in another process. */
  readonly isApart: boolean
  isOnline: boolean
  /** How many requests were noted. */
  readonly requestCount: number
  /** Begins to note requests, from none. */
  note(): void
  /** Makes the noted requests again, each as long after the first as it was, and tells what that costs. */
  repeat(): Promise<Cost>
}

/** Wraps the requests of an io. */
export const makeNotedNetwork = (base: Io, isApart: boolean): NotedNetwork => {
  let requests: { readonly atMs: number; readonly url: string; readonly options: FetchOptions }[] = []
  let isNoting = false
  const network = {
    isApart,
    isOnline: true,
    get requestCount() {
      return requests.length
    },
    io: {
      ...base,
      async fetch(url: string, options: FetchOptions = {}) {
        if (!network.isOnline) throw new Error('The network is cut')
        if (isNoting) requests.push({ atMs: performance.now(), url, options: withoutSignal(options) })
        return base.fetch(url, options)
      }
    },
    note() {
      requests = []
      isNoting = true
    },
    async repeat() {
      isNoting = false
      const first = requests[0]?.atMs ?? 0
      const { cpuMs, wallMs } = await measure(() =>
        Promise.all(
          requests.map(async ({ atMs, url, options }) => {
            await pause(atMs - first)
            const { status } = await base.fetch(url, options)
            if (status !== 200) throw new Error(`A repeated request was answered with ${status}`)
          })
        )
      )
      return { cpuMs, wallMs }
    }
  }
  return network
}

const withoutSignal = ({ signal: _, ...options }: FetchOptions): FetchOptions => options

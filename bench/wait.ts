import type { Readable } from '../kernel/index.ts'

/** Waits for what one of some states tells. @throws Error after `limitMs` */
export const until = (
  states: readonly Pick<Readable<unknown>, 'subscribe'>[],
  isTrue: () => boolean,
  limitMs = 60_000
): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(limit)
      for (const stop of stops) stop()
    }
    const look = (): void => {
      if (!isTrue()) return
      end()
      resolve()
    }
    const limit = setTimeout(() => {
      end()
      reject(new Error(`Timed out after ${limitMs} ms, waiting for ${isTrue}`))
    }, limitMs)
    const stops = states.map(state => state.subscribe(look))
    look()
  })

/** Lets what still runs in the background come to its end. */
export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

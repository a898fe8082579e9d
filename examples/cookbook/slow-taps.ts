import type { ObserverPlugin } from 'holdfast/observer'

/** What the calls of one hook into one plugin took. */
export interface TapTimes {
  readonly pluginId: string
  readonly hook: string
  readonly calls: number
  readonly failures: number
  readonly totalMs: number
  readonly longestMs: number
}

/** An observer that measures plugins, and a way to read what it measured. */
export interface SlowTaps {
  readonly plugin: ObserverPlugin
  /** The figures so far, what took longest first. */
  times(): readonly TapTimes[]
}

/**
 * Measures how long each plugin takes in each hook, and how often it fails: for finding out which one makes a wallet slow.
 *
 * @param onSlow - called for a call that took longer than `limitMs`
 */
export const slowTaps = (onSlow: (line: string) => void = () => {}, limitMs = 1_000): SlowTaps => {
  const found = new Map<string, TapTimes>()
  return {
    times: () => [...found.values()].sort((one, other) => other.totalMs - one.totalMs),
    plugin: {
      kind: 'observer',
      id: 'slow-taps',
      apply({ hooks }) {
        hooks.tapRan.tap('slow-taps', ({ pluginId, hook, durationMs, outcome }) => {
          const key = `${pluginId} ${hook}`
          const { calls = 0, failures = 0, totalMs = 0, longestMs = 0 } = found.get(key) ?? {}
          found.set(key, {
            ...{ pluginId, hook, calls: calls + 1 },
            failures: failures + (outcome === 'failed' ? 1 : 0),
            totalMs: totalMs + durationMs,
            longestMs: Math.max(longestMs, durationMs)
          })
          if (durationMs > limitMs) onSlow(`${pluginId} took ${Math.round(durationMs)} ms in ${hook}`)
        })
      }
    }
  }
}

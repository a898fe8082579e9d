import { useCallback, useState } from 'react'
import { page } from './dom.ts'

/** The themes, in the order in which `T` goes through them. */
export const themes = ['system', 'light', 'dark'] as const

/** The theme of a panel. `system`: as the page's visitor set up. */
export type Theme = (typeof themes)[number]

/** The preferences of a person, in all pages of this origin. */
export interface Preferences {
  readonly theme: Theme
  readonly hasShortcuts: boolean
}

/** Chosen before, and changed at once. Kept where the page may keep things; otherwise until the panel closes. */
export const usePreferences = (
  theme: Theme | undefined
): readonly [Preferences, (changes: Partial<Preferences>) => void] => {
  const [chosen, setChosen] = useState(() => readPreferences(stored()))
  const change = useCallback((changes: Partial<Preferences>) => {
    setChosen(before => {
      const next = { ...before, ...changes }
      keep(JSON.stringify(next))
      return next
    })
  }, [])
  return [theme === undefined ? chosen : { ...chosen, theme }, change]
}

/** Reads what was kept; damaged text gives the defaults. */
export const readPreferences = (text: string | null): Preferences => {
  let kept: Partial<Record<keyof Preferences, unknown>> = {}
  try {
    kept = JSON.parse(text ?? '{}') ?? {}
  } catch {
    // Somebody else's text under our name is no reason to fail.
  }
  return {
    theme: themes.find(theme => theme === kept.theme) ?? 'system',
    hasShortcuts: kept.hasShortcuts !== false
  }
}

const KEY = 'holdfast-devtools'

// A page may forbid its storage altogether; the panel then forgets, and works.
const stored = (): string | null => {
  try {
    return page?.localStorage.getItem(KEY) ?? null
  } catch {
    return null
  }
}

const keep = (text: string): void => {
  try {
    page?.localStorage.setItem(KEY, text)
  } catch {
    // Forgotten, then.
  }
}

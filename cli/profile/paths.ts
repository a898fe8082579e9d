import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import envPaths from 'env-paths'

/** The folders of one profile; each is its own alone. */
export interface ProfilePaths {
  readonly config: string
  /** Accounts, repos and the fake world. */
  readonly data: string
  /** The current account, and where a fake world listens. */
  readonly state: string
  readonly cache: string
}

/**
 * Where a profile lives: the folders that the platform has for it, or below `HOLDFAST_HOME` if that is set.
 *
 * @see ecosystem 1.6
 */
export const profilePaths = (
  profile: string,
  environment: Readonly<Record<string, string | undefined>>
): ProfilePaths => {
  const home = environment.HOLDFAST_HOME
  if (home !== undefined && home !== '') {
    const below = (kind: string): string => join(home, kind, profile)
    return { config: below('config'), data: below('data'), state: below('state'), cache: below('cache') }
  }
  const { config, data, log, cache } = envPaths('holdfast', { suffix: '' })
  const below = (folder: string): string => join(folder, profile)
  return { config: below(config), data: below(data), state: below(log), cache: below(cache) }
}

/** Makes a folder that only its owner can look into. */
export const makePrivateFolder = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
}

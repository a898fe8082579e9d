import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { CliError } from '../errors/cli-error.ts'

/** The folders of one profile; profiles share none. */
export interface ProfilePaths {
  /** The name of the profile. */
  readonly name: string
  readonly config: string
  /** The fake world, and the devices in it. */
  readonly data: string
  /** Accounts and repos of the device in use. */
  readonly device: string
  /** The addresses of a running fake world. */
  readonly state: string
  /** The current account of the device in use. */
  readonly session: string
  readonly cache: string
}

/** The device of a profile that is used while no other is named. */
export const FIRST_DEVICE = 'default'

/**
 * Returns the folders of a profile: those of the platform, or below `HOLDFAST_HOME` if that is set.
 *
 * The devices of a profile share its world only.
 *
 * @see ecosystem 1.6
 */
export const profilePaths = (
  profile: string,
  environment: Readonly<Record<string, string | undefined>>,
  device: string = FIRST_DEVICE
): ProfilePaths => {
  const { config, data, log, cache } = rootsOf(environment.HOLDFAST_HOME)
  const below = (folder: string): string => join(folder, profile)
  const state = below(log)
  const isFirst = device === FIRST_DEVICE
  return {
    name: profile,
    config: below(config),
    data: below(data),
    device: isFirst ? join(below(data), 'device') : join(below(data), 'devices', device),
    state,
    session: isFirst ? state : join(state, 'devices', device),
    cache: below(cache)
  }
}

/** The folder with a folder of settings for each profile. */
const configRoot = (environment: Readonly<Record<string, string | undefined>>): string =>
  rootsOf(environment.HOLDFAST_HOME).config

/** Checks the name of a profile, which is that of its folders. @throws CliError PROFILE_INVALID */
export const checkProfileName = (name: string): string => {
  if (PROFILE_NAME.test(name)) return name
  throw new CliError(
    'PROFILE_INVALID',
    'A profile name has up to 40 letters, digits, dots, dashes or underscores'
  )
}

const DEFAULT_FILE = 'default-profile'
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/

/** The profile that is used while none is named: the one that `holdfast profile default` has chosen, else `default`. */
export const usualProfile = (environment: Readonly<Record<string, string | undefined>>): string => {
  let name = ''
  try {
    name = readFileSync(join(configRoot(environment), DEFAULT_FILE), 'utf8').trim()
  } catch {
    // None was chosen.
  }
  return PROFILE_NAME.test(name) ? name : 'default'
}

/** Chooses the profile that is used while none is named. */
export const chooseUsualProfile = (
  environment: Readonly<Record<string, string | undefined>>,
  name: string
): void => {
  const folder = configRoot(environment)
  makePrivateFolder(folder)
  writeFileSync(join(folder, DEFAULT_FILE), `${name}\n`, { mode: 0o600 })
}

const rootsOf = (
  home: string | undefined
): Pick<ReturnType<typeof envPaths>, 'cache' | 'config' | 'data' | 'log'> =>
  home === undefined || home === ''
    ? envPaths('holdfast', { suffix: '' })
    : {
        // Absolute, since an agent works in another folder.
        config: join(resolve(home), 'config'),
        data: join(resolve(home), 'data'),
        log: join(resolve(home), 'state'),
        cache: join(resolve(home), 'cache')
      }

/** Makes a folder that only its owner can read. @throws CliError PROFILE_INVALID, such as below a folder of another user */
export const makePrivateFolder = (path: string): void => {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new CliError('PROFILE_INVALID', `The folder ${path} cannot be made (${code})`, {
      hint: 'Look who owns it, and if the disk takes writes; HOLDFAST_HOME names another place.',
      cause: error
    })
  }
}

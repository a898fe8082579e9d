import { CliError } from '../errors/cli-error.ts'
import type { ColorChoice } from '../output/paint.ts'
import { FIRST_DEVICE } from '../profile/paths.ts'
import type { Terminal } from '../terminal.ts'
import { parseDuration } from './values.ts'

/** What the global flags and their environment variables say, in the end. */
export interface GlobalOptions {
  readonly profile: string
  /** Which device of the profile. */
  readonly device: string
  readonly account: string | undefined
  readonly json: boolean
  /** False: nothing is ever asked. */
  readonly input: boolean
  readonly yes: boolean
  readonly dryRun: boolean
  readonly timeoutMs: number
  readonly offline: boolean
  readonly color: ColorChoice
  readonly ascii: boolean
  readonly quiet: boolean
  /** 0, 1 for `-v`, 2 for `-vv`. */
  readonly verbosity: number
  readonly debug: boolean
}

/** A flag of every command. */
export interface GlobalFlag {
  readonly flags: string
  readonly summary: string
  readonly choices?: readonly string[]
}

/** The flags of every command (ecosystem 1.6). */
export const globalFlags: readonly GlobalFlag[] = [
  { flags: '--profile <name>', summary: 'the set of data to use (HOLDFAST_PROFILE; "default")' },
  {
    flags: '-a, --account <user>',
    summary: 'which account of this device (HOLDFAST_ACCOUNT; the last login)'
  },
  {
    flags: '--device <name>',
    summary: 'which device, of several that share one fake world (HOLDFAST_DEVICE; "default")'
  },
  { flags: '--json', summary: 'print one JSON object (HOLDFAST_FORMAT=json)' },
  { flags: '--no-input', summary: 'never ask anything (HOLDFAST_NO_INPUT, CI)' },
  { flags: '-y, --yes', summary: 'accept ordinary confirmations' },
  { flags: '--dry-run', summary: 'do everything but commit' },
  { flags: '--timeout <duration>', summary: 'how long to wait, such as 30s (HOLDFAST_TIMEOUT; 60s)' },
  { flags: '--offline', summary: 'use no network (HOLDFAST_OFFLINE)' },
  {
    flags: '--color <when>',
    summary: 'colours (NO_COLOR, FORCE_COLOR; "auto")',
    choices: ['auto', 'always', 'never']
  },
  { flags: '--ascii', summary: 'no Unicode drawing (HOLDFAST_ASCII)' },
  { flags: '-q, --quiet', summary: 'say nothing but the result' },
  { flags: '-v, --verbose', summary: 'say more; twice for still more' },
  { flags: '--debug', summary: 'add the chain of causes to a failure' }
]

const DEFAULT_TIMEOUT_MS = 60_000
const FOLDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/

/**
 * Joins flags and environment; a flag wins.
 *
 * @throws CliError USAGE, PROFILE_INVALID
 */
export const readGlobalOptions = (
  flags: Readonly<Record<string, unknown>>,
  { environment }: Pick<Terminal, 'environment'>
): GlobalOptions => {
  const text = (flag: string, variable: string): string | undefined => {
    const value = flags[flag] ?? environment[variable]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const isOn = (flag: string, variable?: string): boolean =>
    flags[flag] === true || (variable !== undefined && isSet(environment[variable]))
  const timeout = text('timeout', 'HOLDFAST_TIMEOUT')
  return {
    profile: checkName(text('profile', 'HOLDFAST_PROFILE') ?? 'default', 'profile'),
    device: checkName(text('device', 'HOLDFAST_DEVICE') ?? FIRST_DEVICE, 'device'),
    account: text('account', 'HOLDFAST_ACCOUNT'),
    json: wantsJson(flags.json === true, environment),
    input: flags.input !== false && !isSet(environment.HOLDFAST_NO_INPUT) && !isSet(environment.CI),
    yes: isOn('yes'),
    dryRun: isOn('dryRun'),
    timeoutMs: timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(timeout),
    offline: isOn('offline', 'HOLDFAST_OFFLINE'),
    color: (flags.color as ColorChoice | undefined) ?? 'auto',
    ascii: isOn('ascii', 'HOLDFAST_ASCII'),
    quiet: isOn('quiet'),
    verbosity: typeof flags.verbose === 'number' ? flags.verbose : 0,
    debug: isOn('debug')
  }
}

/** Whether the result is to be JSON, also before the arguments are parsed. */
export const wantsJson = (hasFlag: boolean, environment: Terminal['environment']): boolean =>
  hasFlag || environment.HOLDFAST_FORMAT === 'json'

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== '0' && value !== 'false'

const checkName = (name: string, what: string): string => {
  if (FOLDER_NAME.test(name)) return name
  throw new CliError(
    'PROFILE_INVALID',
    `A ${what} name has up to 40 letters, digits, dots, dashes or underscores`
  )
}

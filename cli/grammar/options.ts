import { resolve } from 'node:path'
import { compact } from '../../kernel/base/compact.ts'
import { CliError } from '../errors/cli-error.ts'
import { FIRST_DEVICE, usualProfile } from '../profile/paths.ts'
import type { ColorChoice, Terminal } from '../terminal/terminal.ts'

/** The values of the global flags and their environment variables. */
export interface GlobalOptions {
  readonly profile: string
  /** The profile of a command that names none. */
  readonly usualProfile: string
  /** The device of the profile. */
  readonly device: string
  readonly account: string | undefined
  readonly json: boolean
  /** The fields of the result that are printed, each as its names from the outside in; all if undefined. */
  readonly fields: readonly FieldPath[] | undefined
  /** False: no prompts. */
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
  /** The folder whose `holdfast.config` is used besides that of the profile, absolute. */
  readonly configFolder: string | undefined
  /** Where the accounts are, in place of what the profile says. */
  readonly store: { readonly url: string; readonly isUnprotected?: true } | undefined
  /** False: the command runs in a process of its own, even if an agent runs. */
  readonly agent: boolean
  /** False: an agent that runs is used, but none is started. */
  readonly mayStartAgent: boolean
  /** The flag or the variable that gave a value, such as `--profile` or `HOLDFAST_PROFILE`; undefined for one that neither gave. */
  readonly givenBy: Readonly<Record<GivenOption, string | undefined>>
}

/** An option that `profile show` lists with where it comes from. */
export type GivenOption = 'account' | 'device' | 'offline' | 'profile' | 'timeout'

/** The names that lead to a field, such as `wallets` and `name`; lists are passed through. */
export type FieldPath = readonly string[]

/** A flag of every command. */
export interface GlobalFlag {
  readonly flags: string
  readonly summary: string
  readonly choices?: readonly string[]
}

/** The flags of every command (ecosystem 1.6). */
export const globalFlags: readonly GlobalFlag[] = [
  { flags: '--profile <name>', summary: 'the profile (HOLDFAST_PROFILE; that of profile default)' },
  {
    flags: '-a, --account <user>',
    summary: 'the account on this device (HOLDFAST_ACCOUNT; the last login)'
  },
  {
    flags: '--device <name>',
    summary: 'the device, if several share one fake world (HOLDFAST_DEVICE; "default")'
  },
  {
    flags: '-C, --config-folder <folder>',
    summary: 'also use the plugins of holdfast.config.ts in this folder; the command runs without the agent'
  },
  {
    flags: '--store <url>',
    summary:
      'where the accounts of the profile are, such as level:///home/me/wallets (HOLDFAST_STORE; that of profile store); the command runs without the agent'
  },
  { flags: '--json', summary: 'print one JSON object (HOLDFAST_FORMAT=json)' },
  {
    flags: '--fields <fields>',
    summary: 'with --json, print only these fields of the data, such as wallets.id,wallets.name'
  },
  { flags: '--no-input', summary: 'never prompt (HOLDFAST_NO_INPUT, CI)' },
  { flags: '-y, --yes', summary: 'accept ordinary confirmations' },
  { flags: '--dry-run', summary: 'check everything, but change and send nothing' },
  {
    flags: '--timeout <duration>',
    summary: 'how long to wait, such as 30s (HOLDFAST_TIMEOUT; 60s); given, it also ends a stream'
  },
  { flags: '--offline', summary: 'use no network (HOLDFAST_OFFLINE)' },
  { flags: '--no-agent', summary: 'run in a process of its own, and start no agent (HOLDFAST_NO_AGENT)' },
  {
    flags: '--color <when>',
    summary: 'use colours (NO_COLOR, FORCE_COLOR; "auto")',
    choices: ['auto', 'always', 'never']
  },
  { flags: '--ascii', summary: 'no Unicode drawing (HOLDFAST_ASCII)' },
  { flags: '-q, --quiet', summary: 'print only the result' },
  { flags: '-v, --verbose', summary: 'print more; twice for even more' },
  { flags: '--debug', summary: 'add the chain of causes to a failure' }
]

const DEFAULT_TIMEOUT_MS = 60_000
const FOLDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/

/** Reads the global options from flags and environment; a flag wins. @throws CliError USAGE, PROFILE_INVALID */
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
  const giver = (flag: string, variable: string): string | undefined => {
    if (flags[flag] !== undefined && flags[flag] !== '' && flags[flag] !== false) return `--${flag}`
    return environment[variable] ? variable : undefined
  }
  const configFolder = typeof flags.configFolder === 'string' ? resolve(flags.configFolder) : undefined
  const store = text('store', 'HOLDFAST_STORE')
  const isAlone = configFolder !== undefined || store !== undefined
  const agent = flags.agent !== false && !isAlone && !isSet(environment.HOLDFAST_NO_AGENT)
  const json = wantsJson(flags.json === true, environment)
  const usual = usualProfile(environment)
  return {
    profile: checkName(text('profile', 'HOLDFAST_PROFILE') ?? usual, 'profile'),
    usualProfile: usual,
    device: checkName(text('device', 'HOLDFAST_DEVICE') ?? FIRST_DEVICE, 'device'),
    account: text('account', 'HOLDFAST_ACCOUNT'),
    json,
    fields: typeof flags.fields === 'string' ? parseFields(flags.fields, json) : undefined,
    input: flags.input !== false && !isSet(environment.HOLDFAST_NO_INPUT) && !isSet(environment.CI),
    yes: isOn('yes'),
    dryRun: isOn('dryRun'),
    timeoutMs: timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(timeout),
    offline: isOn('offline', 'HOLDFAST_OFFLINE'),
    color: (flags.color as ColorChoice | undefined) ?? 'auto',
    ascii: isOn('ascii', 'HOLDFAST_ASCII'),
    quiet: isOn('quiet'),
    verbosity: typeof flags.verbose === 'number' ? flags.verbose : 0,
    debug: isOn('debug'),
    configFolder,
    store:
      store === undefined
        ? undefined
        : {
            url: store,
            ...compact({
              isUnprotected: isSet(environment.HOLDFAST_STORE_UNPROTECTED) ? (true as const) : undefined
            })
          },
    agent,
    // A machine of CI waits for nothing that goes on.
    mayStartAgent: agent && !isSet(environment.CI),
    givenBy: {
      account: giver('account', 'HOLDFAST_ACCOUNT'),
      device: giver('device', 'HOLDFAST_DEVICE'),
      offline: giver('offline', 'HOLDFAST_OFFLINE'),
      profile: giver('profile', 'HOLDFAST_PROFILE'),
      timeout: giver('timeout', 'HOLDFAST_TIMEOUT')
    }
  }
}

/** Returns true if the output is JSON; known before the arguments are parsed. */
export const wantsJson = (hasFlag: boolean, environment: Terminal['environment']): boolean =>
  hasFlag || environment.HOLDFAST_FORMAT === 'json'

const parseFields = (text: string, hasJson: boolean): readonly FieldPath[] => {
  if (!hasJson) throw new CliError('USAGE', 'Use --fields together with --json')
  const fields = text.split(',').map(field => field.trim().split('.'))
  if (fields.flat().every(name => name !== '')) return fields
  throw new CliError('USAGE', 'The fields are names between commas, such as wallets.id,wallets.name')
}

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== '0' && value !== 'false'

const checkName = (name: string, what: string): string => {
  if (FOLDER_NAME.test(name)) return name
  throw new CliError(
    'PROFILE_INVALID',
    `A ${what} name has up to 40 letters, digits, dots, dashes or underscores`
  )
}

const DURATION = /^(\d{1,6})(ms|s|m|h)$/
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
// The longest time of a timer.
const MAX_MS = 2 ** 31 - 1

/** Reads `500ms`, `30s`, `2m` or `1h` as milliseconds. @throws CliError USAGE */
export const parseDuration = (text: string): number => {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? []
  const milliseconds = Number(count) * (UNITS[unit] ?? 0)
  if (milliseconds > 0 && milliseconds <= MAX_MS) return milliseconds
  throw new CliError('USAGE', 'A duration is a number with ms, s, m or h, such as 30s')
}

const SPAN = /^(\d{1,6})(m|h|d)$/
const SPAN_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 }

/** Reads `30m`, `12h` or `7d` as seconds. @throws CliError USAGE */
export const parseSpan = (text: string): number => {
  const [, count = '', unit = ''] = SPAN.exec(text) ?? []
  const seconds = Number(count) * (SPAN_SECONDS[unit] ?? 0)
  if (seconds > 0) return seconds
  throw new CliError('USAGE', 'A waiting time is a number with m, h or d, such as 7d')
}

/** Reads a whole number between two bounds. @throws CliError USAGE */
export const parseCount = (text: string, what: string, [least, most]: readonly [number, number]): number => {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= least && count <= most) return count
  throw new CliError('USAGE', `The ${what} must be a whole number from ${least} to ${most}`)
}

/** Reads repeated `key=value` texts. @throws CliError USAGE */
export const parsePairs = (texts: readonly string[], what: string): Readonly<Record<string, string>> =>
  Object.fromEntries(texts.map(text => parsePair(text, what)))

/** Reads one `key=value` text. @throws CliError USAGE */
export const parsePair = (text: string, what: string): readonly [key: string, value: string] => {
  const equals = text.indexOf('=')
  if (equals < 1) throw new CliError('USAGE', `The ${what} must look like key=value`)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

/** Reads a date such as `2026-01-05` or a full ISO time. @throws CliError USAGE */
export const parseDate = (text: string, what: string): Date => {
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : undefined
  if (date !== undefined && !Number.isNaN(date.getTime())) return date
  throw new CliError('USAGE', `The ${what} must be a date such as 2026-01-05`)
}

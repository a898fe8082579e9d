import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JsonObject } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { GivenOption } from '../../grammar/options.ts'
import { localTime } from '../../output/texts.ts'
import type { CellLike, CommandResult } from '../../output/view.ts'
import { addedHosts } from '../../plugins/plugin-list.ts'
import { type DamagedServer, type KnownServer, profileCertificates } from '../../profile/certificates.ts'
import { checkProfileName, type ProfilePaths, profilePaths } from '../../profile/paths.ts'
import { readProfileStore } from '../../profile/profile-store.ts'
import { namedHosts } from '../../profile/real-world.ts'
import {
  networkOf,
  nodesOf,
  type RealProfile,
  readApiKey,
  readNodeLogins,
  readProfile,
  secretPaths,
  settingsPath
} from '../../profile/settings.ts'
import { readCurrentAccount } from '../../profile/state-files.ts'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Lists the profiles of this computer, with their networks. */
export const profileList: CommandRun = async session => {
  const { environment } = session.terminal
  const { usualProfile } = session.globals
  const profiles = [...new Set(['default', ...profileNames(environment)])].map(name => ({
    name,
    network: networkOf(profilePaths(name, environment)),
    isDefault: name === usualProfile
  }))
  return {
    data: { profiles },
    view: {
      kind: 'table',
      columns: [{ title: 'NAME' }, { title: 'NETWORK' }, { title: 'DEFAULT' }],
      rows: profiles.map(({ name, network, isDefault }) => [
        name,
        { text: network, tone: network === 'main' ? 'warn' : 'plain' },
        isDefault ? 'yes' : ''
      ]),
      empty: ''
    }
  }
}

/** The names of the profiles that have settings or data, in the order of the alphabet. */
export const profileNames = (environment: Environment): readonly string[] => {
  const { config, data } = profilePaths('default', environment)
  return [...new Set([dirname(config), dirname(data)].flatMap(foldersIn))].sort()
}

const foldersIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap(entry =>
      entry.isDirectory() ? [entry.name] : []
    )
  } catch {
    return []
  }
}

/** The folders of a profile that a command names. @throws CliError PROFILE_INVALID */
export const pathsOf = (session: Session, name: string): ProfilePaths =>
  profilePaths(checkProfileName(name), session.terminal.environment)

/** The settings of a real profile. @throws CliError NOT_FOUND, PROFILE_INVALID */
export const existingProfile = (paths: ProfilePaths): RealProfile => {
  const profile = readProfile(paths)
  if (profile !== undefined) return profile
  throw new CliError('NOT_FOUND', `There is no profile ${paths.name} on a real network`, {
    next: [{ command: `holdfast profile create ${paths.name} --network test`, why: 'make it' }]
  })
}

/** Shows the settings of a profile, and what commands like this one use besides. */
export const profileShow: CommandRun = async (session, name = session.globals.profile) => {
  const paths = profilePaths(checkProfileName(name), session.terminal.environment)
  const { data, view } = shownProfile(session, name, readProfile(paths))
  const used = usedValues(session)
  const store = readProfileStore(paths)?.url ?? null
  return {
    data: {
      ...data,
      dataFolder: paths.data,
      store,
      used: Object.fromEntries(used.map(([key, value, from]) => [key, { value, from }]))
    },
    view: {
      kind: 'record',
      fields: [
        ...(view.kind === 'record' ? view.fields : []),
        ['data in', paths.data],
        ...(store === null ? [] : [['accounts in', store] as const]),
        ...used.map(([key, value, from]) => [`${key} in use`, `${value ?? 'none'} (${from})`] as const)
      ]
    }
  }
}

/** The options of this command that flags and variables give, with where each comes from. */
const usedValues = ({
  globals,
  paths
}: Session): readonly (readonly [GivenOption, string | boolean | null, string])[] => {
  const { givenBy, profile, usualProfile, device, timeoutMs, offline } = globals
  const current = readCurrentAccount(paths.session)
  const isLast = globals.account === undefined && current !== undefined
  return [
    [
      'profile',
      profile,
      givenBy.profile ?? (usualProfile === 'default' ? 'usual' : 'holdfast profile default')
    ],
    ['device', device, givenBy.device ?? 'usual'],
    [
      'account',
      globals.account ?? current?.username ?? current?.loginId ?? null,
      givenBy.account ?? (isLast ? 'the last login' : 'not set')
    ],
    ['timeout', `${timeoutMs / 1000} s`, givenBy.timeout ?? 'usual'],
    ['offline', offline, givenBy.offline ?? 'usual']
  ]
}

/** The settings of a profile, each with where it comes from. */
export const shownProfile = (
  session: Session,
  name: string,
  profile: RealProfile | undefined
): CommandResult => {
  const paths = profilePaths(name, session.terminal.environment)
  const isDefault = session.globals.usualProfile === name
  if (profile === undefined)
    return {
      data: { name, network: 'fake', isDefault, settings: {}, hosts: [], certificates: [] },
      view: {
        kind: 'record',
        fields: [
          ['name', name],
          ['network', 'fake: play money, and servers in this computer'],
          ['default', isDefault ? 'yes' : 'no']
        ]
      }
    }
  const { network } = profile
  const file = settingsPath(paths)
  const settings = settingsOf(profile, paths)
  const certificates = profileCertificates(paths, false).list()
  const hosts = [...namedHosts(profile, addedHosts(paths))].sort()
  const json: JsonObject = Object.fromEntries(
    settings.map(([label, value, , from = file]) => [
      label,
      { value: [...value], from: value.length === 0 ? 'not set' : from }
    ])
  )
  return {
    data: {
      ...{ name, network, isDefault, settings: json, hosts },
      certificates: certificates.map(known =>
        'isDamaged' in known
          ? { server: known.server, from: known.path, isDamaged: true }
          : {
              ...{ server: known.server, since: known.since, from: known.path },
              fingerprint: known.fingerprint ?? null,
              isPinned: known.fingerprint !== undefined
            }
      )
    },
    view: {
      kind: 'record',
      fields: [
        ['name', name],
        ['default', isDefault ? 'yes' : 'no'],
        ...settings.map(
          ([label, value, missing, from]) =>
            [
              label,
              value.length === 0
                ? { text: `not set: ${missing}`, tone: 'dim' as const }
                : [...value, ...(from === undefined ? [] : [`in ${from}`])].join(' ')
            ] as const
        ),
        ...certificates.map(known => [`certificate of ${known.server}`, certificateText(known)] as const),
        ['asked hosts', hosts.join(' ')],
        ['settings in', file]
      ]
    }
  }
}

const certificateText = (known: KnownServer | DamagedServer): CellLike => {
  if ('isDamaged' in known)
    return { text: `damaged: ${known.path}; holdfast profile trust --forget ${known.server}`, tone: 'warn' }
  const { fingerprint, since } = known
  if (fingerprint === undefined) return 'of an authority'
  return `SHA-256 ${fingerprint}, pinned ${localTime(new Date(since))}`
}

/** `from`: the file of a value that is not in that of the settings. */
type Setting = readonly [label: string, value: readonly string[], missing: string, from?: string]

const settingsOf = (profile: RealProfile, paths: ProfilePaths): readonly Setting[] => {
  const files = secretPaths(paths)
  const logins = Object.keys(readNodeLogins(paths))
  const { network, loginServer, syncServers, infoServers, chains, providers, created } = profile
  const { proxy, pinsCertificates } = profile
  return [
    ['network', [network], ''],
    ['login server', loginServer === undefined ? [] : [loginServer], 'accounts are on this device only'],
    [
      'API key',
      readApiKey(paths) === undefined ? [] : ['set'],
      loginServer === undefined ? 'not needed' : 'the login server needs one',
      files.apiKey
    ],
    ['sync servers', syncServers, 'other devices see nothing of this one'],
    ['info servers', infoServers, 'not needed'],
    ...Object.entries(chains).map(([id, servers]): Setting => [`chain ${id}`, servers, '']),
    ...(Object.keys(chains).length === 0 ? [['chains', [], 'no wallet sees its coins'] as const] : []),
    ...nodesOf(profile).map((node): Setting => {
      const cookie = profile.nodeCookies?.[node]
      const missing = 'the node refuses to answer without one'
      if (cookie !== undefined) return [`login of ${node}`, [`in ${cookie}`], missing]
      return [`login of ${node}`, logins.includes(node) ? ['set'] : [], missing, files.nodeLogins]
    }),
    ['providers', providers, 'no rates and no swaps'],
    ['proxy', proxy === undefined ? [] : [proxy], 'servers see your address on the network'],
    [
      'new certificates',
      pinsCertificates === true ? ['pinned at first use'] : [],
      'a self-signed one is refused until holdfast profile trust has pinned it'
    ],
    ['created', [created], '']
  ]
}

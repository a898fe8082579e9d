import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JsonObject } from '../../../kernel/index.ts'
import type { CommandResult } from '../../output/view.ts'
import { addedHosts } from '../../plugins/plugin-list.ts'
import { checkProfileName, profilePaths } from '../../profile/paths.ts'
import { namedHosts } from '../../profile/real-world.ts'
import { networkOf, type RealProfile, readApiKey, readProfile, settingsPath } from '../../profile/settings.ts'
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

/** Shows the settings of a profile. */
export const profileShow: CommandRun = async (session, name = session.globals.profile) => {
  const paths = profilePaths(checkProfileName(name), session.terminal.environment)
  return shownProfile(session, name, readProfile(paths))
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
      data: { name, network: 'fake', isDefault, settings: {}, hosts: [] },
      view: {
        kind: 'record',
        fields: [
          ['name', name],
          ['network', 'fake: play money, and servers in this computer'],
          ['default', isDefault ? 'yes' : 'no']
        ]
      }
    }
  const { network, loginServer, syncServers, infoServers, chains, providers, created } = profile
  const file = settingsPath(paths)
  const hasKey = readApiKey(paths) !== undefined
  const settings: readonly (readonly [label: string, value: readonly string[], missing: string])[] = [
    ['network', [network], ''],
    [
      'login server',
      loginServer === undefined ? [] : [loginServer],
      'no account can be made or logged in to'
    ],
    [
      'API key',
      hasKey ? ['set'] : [],
      loginServer === undefined ? 'not needed' : 'the login server needs one'
    ],
    ['sync servers', syncServers, 'other devices see nothing of this one'],
    ['info servers', infoServers, 'not needed'],
    ...Object.entries(chains).map(([id, servers]) => [`chain ${id}`, servers, ''] as const),
    ...(Object.keys(chains).length === 0 ? [['chains', [], 'no wallet sees its coins'] as const] : []),
    ['providers', providers, 'no rates and no swaps'],
    ['created', [created], '']
  ]
  const hosts = [...namedHosts(profile, addedHosts(paths))].sort()
  const json: JsonObject = Object.fromEntries(
    settings.map(([label, value]) => [
      label,
      { value: [...value], from: value.length === 0 ? 'not set' : file }
    ])
  )
  return {
    data: { name, network, isDefault, settings: json, hosts },
    view: {
      kind: 'record',
      fields: [
        ['name', name],
        ['default', isDefault ? 'yes' : 'no'],
        ...settings.map(
          ([label, value, missing]) =>
            [
              label,
              value.length === 0 ? { text: `not set: ${missing}`, tone: 'dim' as const } : value.join(' ')
            ] as const
        ),
        ['asked hosts', hosts.join(' ')],
        ['settings in', file]
      ]
    }
  }
}

import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compact } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import type { ProfilePaths } from '../../profile/paths.ts'
import {
  checkStoreUrl,
  type ProfileStore,
  readProfileStore,
  writeProfileStore
} from '../../profile/profile-store.ts'
import { readProfile } from '../../profile/settings.ts'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'
import { refuseAgent } from './manage-profiles.ts'
import { pathsOf, profileNames } from './show-profiles.ts'

/** Shows or chooses where a profile keeps its accounts and wallets. */
export const profileStore: CommandRun = async (session, name = '', url) => {
  const paths = pathsOf(session, name)
  if (url === undefined) return shownStore(paths, readProfileStore(paths))
  const { environment } = session.terminal
  if (name !== 'default' && !profileNames(environment).includes(name) && readProfile(paths) === undefined)
    throw new CliError('NOT_FOUND', `There is no profile ${name}`, {
      next: [{ command: 'holdfast profile list', why: 'see their names' }]
    })
  await refuseAgent(paths)
  const store = url === 'files' ? undefined : await storeOf(session, url)
  if (store !== undefined) refuseOwnFolder(paths, store.url)
  if (!session.globals.dryRun) writeProfileStore(paths, store)
  return {
    ...shownStore(paths, store),
    advice: [
      'Nothing was moved: the accounts of before stay where they are.',
      `Back to the folder of the profile: holdfast profile store ${name} files`
    ]
  }
}

const storeOf = async (session: Session, text: string): Promise<ProfileStore> => {
  const { url, isFolder, isProtected } = checkStoreUrl(text)
  const given = await session.secrets.given('store-password')
  if (isFolder || url.startsWith('sqlite:')) {
    if (given !== undefined) throw new CliError('USAGE', 'A store in this computer has no password')
    if (!isFolder && !session.isOn('unprotected')) throw unlocked()
    if (!isFolder) return { url, isUnprotected: true }
    return { url }
  }
  if (!isProtected && !session.isOn('unprotected')) throw unlocked()
  const wantsPassword = given === undefined && new URL(url).username !== '' && session.secrets.canPrompt
  const typed = wantsPassword
    ? await session.secrets.prompt('store-password', { message: 'Password of the database, if it has one:' })
    : undefined
  const password = given ?? (typed === '' ? undefined : typed)
  return { url, ...compact({ password, isUnprotected: isProtected ? undefined : (true as const) }) }
}

const unlocked = (): CliError =>
  new CliError('USAGE', 'No lock keeps a second program from this database', {
    hint: 'Two that write to it damage the accounts. If no other program uses it, add --unprotected.'
  })

/** The folders of a profile go with it, and this one would be said to stay. */
const refuseOwnFolder = ({ config, data, state, cache }: ProfilePaths, url: string): void => {
  const { protocol, pathname } = new URL(url)
  if (protocol !== 'file:' && protocol !== 'level:') return
  const folder = fileURLToPath(`file://${pathname}`)
  for (const own of [config, data, state, cache].map(path => dirname(path)))
    if (!relative(own, folder).startsWith('..'))
      throw new CliError('USAGE', 'This folder is one of the profiles, which are deleted with them', {
        hint: 'Choose a folder elsewhere, such as level:///home/me/wallets.'
      })
}

const shownStore = (paths: ProfilePaths, store: ProfileStore | undefined): CommandResult => {
  const { name } = paths
  const url = store?.url ?? null
  const hasPassword = store?.password !== undefined
  return {
    data: {
      name,
      store: url,
      folder: paths.device,
      isUnprotected: store?.isUnprotected === true,
      hasPassword
    },
    view: {
      kind: 'record',
      fields: [
        ['name', name],
        ['accounts in', url ?? paths.device],
        ...(hasPassword ? [['password', 'set'] as const] : []),
        ...(store?.isUnprotected === true
          ? [['lock', { text: 'none: no other program may use it', tone: 'warn' as const }] as const]
          : [])
      ]
    }
  }
}

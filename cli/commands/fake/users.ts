import { readFile, stat } from 'node:fs/promises'
import { isWalletError, parseJsonText, WalletError } from '../../../kernel/index.ts'
import { CliError, isCliError } from '../../errors/cli-error.ts'
import { writeOutputFile } from '../../output/output-file.ts'
import { localTime } from '../../output/texts.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirmTyped } from '../../session/confirm.ts'
import { isJsonObject } from '../../session/input.ts'
import { logInAs, targetOf } from '../../session/log-in.ts'

/** Lists the users of the fake world; the servers do not know their names. */
export const fakeUserList: CommandRun = async session => {
  const { control } = await session.world()
  const users = await control.users()
  return {
    data: { users: users.map(user => ({ ...user })) },
    view: {
      kind: 'table',
      columns: [
        { title: 'LOGIN ID', canShrink: true },
        { title: 'CREATED' },
        { title: 'LAST LOGIN' },
        { title: 'LOGINS', align: 'right' },
        { title: '2FA' }
      ],
      rows: users.map(({ loginId, created, lastLogin, logins, hasTwoFactor }) => [
        loginId,
        localTime(new Date(created)),
        lastLogin === null ? '' : localTime(new Date(lastLogin)),
        String(logins),
        hasTwoFactor ? 'on' : 'off'
      ]),
      empty: 'This fake world has no users yet. Create one with: holdfast account create <user>'
    }
  }
}

/** Loads a user in the deployed format into the fake world. */
export const fakeUserLoad: CommandRun = async (session, path = '') => {
  const user = await readUser(path)
  const { control } = await session.world()
  const loginId = await control.loadUser(user).catch((error: unknown) => {
    if (!isWalletError(error, 'BAD_REPLY')) throw error
    const { path: field, rule } = error.details
    throw new WalletError('CORRUPT_FILE', { path, rule: `${field} ${rule}`.trim() }, error)
  })
  const { username } = user
  const name = typeof username === 'string' ? username : null
  return {
    data: { loginId, username: name },
    view: {
      kind: 'record',
      fields: [
        ['username', name ?? '(light)'],
        ['login id', loginId]
      ]
    }
  }
}

/** Writes a user of the fake world into a file, with all its keys and secrets. */
export const fakeUserDump: CommandRun = async (session, name = '') => {
  const path = session.text('output')
  if (path === undefined) throw new CliError('USAGE', 'The command writes a file: add -o <file>')
  if (!session.isOn('reveal')) {
    await confirmTyped(session, {
      question: `Anyone who reads ${path} has the whole account.`,
      name,
      summary: { user: name, file: path }
    })
  }
  const context = await session.context()
  const account = session.adoptAccount(
    await logInAs(session, context, targetOf(context, { username: name }, name))
  )
  const { control } = await session.world()
  const { rootLoginId: loginId, username } = account
  const user = await control.dumpUser({ loginId, loginKey: await account.getLoginKey(), username })
  await writeOutputFile(path, `${JSON.stringify(user)}\n`)
  const files = Object.values(user.repos).reduce((count, repo) => count + Object.keys(repo).length, 0)
  const repos = Object.keys(user.repos).length
  return {
    data: { loginId, username: username ?? null, file: path, repos, files },
    view: {
      kind: 'record',
      fields: [
        ['file', path],
        ['repos', String(repos)],
        ['files', String(files)],
        ['beware', { text: 'it contains every key of the account', tone: 'warn' }]
      ]
    }
  }
}

const MAX_FILE = 300_000_000
/** A user may have a million files of four values each. */
const USER_LIMITS = { maxValues: 8_000_000 }

const readUser = async (path: string): Promise<Record<string, unknown>> => {
  const unreadable = (rule: string, cause?: unknown): WalletError =>
    new WalletError('CORRUPT_FILE', { path, rule }, cause)
  const text = await readText(path)
  try {
    const value = parseJsonText(text, USER_LIMITS)
    if (isJsonObject(value)) return { ...value }
  } catch (error) {
    throw unreadable('it is not JSON', error)
  }
  throw unreadable('it is not a user')
}

const readText = async (path: string): Promise<string> => {
  try {
    if ((await stat(path)).size > MAX_FILE) throw new CliError('USAGE', `The file ${path} is too large`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isCliError(error)) throw error
    throw new CliError('NOT_FOUND', `The file ${path} cannot be read`, { cause: error })
  }
}

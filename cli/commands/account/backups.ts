import { shellWord } from '../../../app/format/safe-text.ts'
import { parseJsonText } from '../../../kernel/index.ts'
import { writeOutputFile } from '../../output/output-file.ts'
import { DEVICE_ONLY } from '../../output/texts.ts'
import { allowingUse } from '../../session/allow-use.ts'
import type { CommandRun } from '../../session/command.ts'
import { readTextFile } from '../../session/input.ts'
import { makeChange, nameOf } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Writes the account with everything that this device has of it into one file, which its password opens. */
export const accountBackup: CommandRun = async (session, path = '') => {
  const account = await session.account()
  const backup = await allowingUse(session, 'backup', () =>
    session.withProgress('Making the backup', () => account.location.makeBackup())
  )
  await writeOutputFile(path, backup, session.isOn('force'))
  const { id, username = null } = account
  return {
    data: { file: path, loginId: id, username, characters: backup.length },
    advice: ['Only the present password opens it. What you do from now on is not in it.'],
    view: {
      kind: 'record',
      fields: [
        ['account', nameOf(account)],
        ['file', path],
        ['characters', String(backup.length)]
      ]
    }
  }
}

/** Restores the account of a backup on this device. */
export const accountRestore: CommandRun = async (session, path = '') => {
  const backup = await readTextFile(path, MAX_FILE)
  const context = await session.context()
  const named = nameIn(backup)
  const password = await passwordOf(session, named)
  const name = named ?? 'The account'
  return makeChange(session, {
    doing: 'Restoring the account',
    done: `${name} is restored on this device`,
    data: { file: path, username: named ?? null },
    advice: [`Log in to it: holdfast login ${shellWord(name)}`],
    call: () => context.restoreAccount(backup, { password })
  })
}

/** As many bytes as the characters of the largest backup. */
const MAX_FILE = 256 * 1024 * 1024

/** The name in the first line; the restore itself checks it. */
const nameIn = (backup: string): string | undefined => {
  try {
    const header = parseJsonText(backup.slice(0, backup.indexOf('\n')))
    const { username } = header as { readonly username?: unknown }
    return typeof username === 'string' && /^[ -~]{1,100}$/.test(username) ? username : undefined
  } catch {
    return undefined
  }
}

const passwordOf = async ({ secrets }: Session, name = 'the account'): Promise<string> =>
  (await secrets.given('password')) ??
  secrets.prompt('password', { message: `Password of ${name} when the backup was made:` })

/** Makes an account of this device on the login server. A move that failed is completed by the next one. */
export const accountMove: CommandRun = async session => {
  const account = await session.account()
  const { id, username = null } = account
  const wasDeviceOnly = account.location.isDeviceOnly
  session.statusLine.info(
    wasDeviceOnly
      ? `${nameOf(account)} is ${DEVICE_ONLY}.`
      : `${nameOf(account)} is on the login server already.`
  )
  return makeChange(session, {
    doing: 'Moving the account to the login server',
    done: `${nameOf(account)} is on the login server, with everything in it`,
    data: { loginId: id, username, moved: wasDeviceOnly, deviceOnly: false },
    call: () => account.location.moveToServer()
  })
}

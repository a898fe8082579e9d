import type { NewAccount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { writeCurrentAccount } from '../profile/current-account.ts'
import type { Session } from '../session.ts'

/** Makes an account, with a username and password or, with `--light`, with neither, and logs in to it. */
export const accountCreate: CommandRun = async (session, user) => {
  const isLight = session.isOn('light')
  if (isLight === (user !== undefined)) {
    throw new CliError(
      'USAGE',
      isLight ? 'A light account has no username' : 'Say the username of the new account',
      {
        hint: 'Give a username, or --light for an account without one.'
      }
    )
  }
  const request: NewAccount = isLight
    ? await withPin(session, {})
    : await withPin(session, { username: user ?? '', password: await newPassword(session) })
  const context = await session.context()
  session.talk.step('making the account…')
  const account = session.useAccount(
    await session.within('Making the account', () => context.createAccount(request))
  )
  const { id, username } = account
  writeCurrentAccount(session.paths.session, { loginId: id, ...(username === undefined ? {} : { username }) })
  return {
    data: { loginId: id, username: username ?? null, light: isLight, pinEnabled: request.pin !== undefined },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? id],
        ['PIN', request.pin === undefined ? 'none' : 'on this device']
      ]
    }
  }
}

const newPassword = async ({ secrets }: Session): Promise<string> => {
  const given = await secrets.given('password')
  const password = given ?? (await askTwice(secrets))
  if (password !== '') return password
  throw new CliError('USAGE', 'The password is empty')
}

const askTwice = async (secrets: Session['secrets']): Promise<string> => {
  const first = await secrets.ask('password', {
    message: 'New password:',
    check: text => (text === '' ? 'Type a password' : undefined)
  })
  await secrets.ask('password', {
    message: 'The same again:',
    check: text => (text === first ? undefined : 'That is not the same')
  })
  return first
}

const withPin = async ({ secrets }: Session, account: NewAccount): Promise<NewAccount> => {
  const given = await secrets.given('pin')
  const pin =
    given ?? (secrets.canAsk ? await secrets.ask('pin', { message: PIN_QUESTION, check: checkPin }) : '')
  return pin === '' ? account : { ...account, pin }
}

const PIN_QUESTION = 'PIN for this device, four digits or more (empty: none):'

const checkPin = (text: string): string | undefined =>
  text === '' || /^\d{4,}$/.test(text) ? undefined : 'Type four digits or more, or nothing'

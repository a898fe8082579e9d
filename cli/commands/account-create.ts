import type { NewAccount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { rememberAccount } from '../profile/current-account.ts'
import { lackOfPin, newPassword } from '../secrets/new-secrets.ts'
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
    : await withPin(session, {
        username: user ?? '',
        password: await newPassword(session, await session.context(), 'password')
      })
  const context = await session.context()
  session.talk.step('making the account…')
  const account = session.adoptAccount(
    await session.within('Making the account', () => context.createAccount(request))
  )
  const { id, username } = account
  rememberAccount(session.paths.session, account)
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

const withPin = async ({ secrets }: Session, account: NewAccount): Promise<NewAccount> => {
  const given = await secrets.given('pin')
  const pin =
    given ?? (secrets.canAsk ? await secrets.ask('pin', { message: PIN_QUESTION, check: checkPin }) : '')
  return pin === '' ? account : { ...account, pin }
}

const PIN_QUESTION = 'PIN for this device, four digits or more (empty: none):'

const checkPin = (text: string): string | undefined => (text === '' ? undefined : lackOfPin(text))

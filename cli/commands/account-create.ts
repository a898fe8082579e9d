import { type Context, type NewAccount, normalizeUsername } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { rememberAccount } from '../profile/current-account.ts'
import { lackOfPin, newPassword } from '../secrets/new-secrets.ts'
import type { SecretQuestion } from '../secrets/prompt.ts'
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
  const context = await session.context()
  const request = isLight ? await lightAccount(session) : await namedAccount(session, context, user ?? '')
  const account = session.adoptAccount(
    await session.doing('Making the account', () => context.createAccount(request))
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

const namedAccount = async (session: Session, context: Context, user: string): Promise<NewAccount> => {
  // A name that cannot be is found out before a password is typed.
  const username = normalizeUsername(user)
  const password = await newPassword(session, context, 'password')
  const pin = await pinOf(session, {
    message: `${PIN_QUESTION} (empty: none):`,
    check: text => (text === '' ? undefined : lackOfPin(text))
  })
  return { username, password, ...(pin === '' ? {} : { pin }) }
}

/** Without a name there is no password, so nothing but the PIN would open the account a second time. */
const lightAccount = async (session: Session): Promise<NewAccount> => {
  const pin = await pinOf(session, { message: `${PIN_QUESTION}:`, check: lackOfPin })
  if (pin === '') throw session.secrets.impossible('pin')
  return { pin }
}

const PIN_QUESTION = 'PIN, four digits or more'

/** A PIN from a flag, or one that a person types; empty where nobody can be asked. */
const pinOf = async ({ secrets }: Session, question: SecretQuestion): Promise<string> => {
  const given = await secrets.given('pin')
  if (given !== undefined) return given
  return secrets.canAsk ? secrets.ask('pin', question) : ''
}

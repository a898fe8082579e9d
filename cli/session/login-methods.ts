import type { Account, Context, LoginHelp } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseAnswers } from '../secrets/parse-answers.ts'
import type { SecretName } from '../secrets/secret-names.ts'
import type { SecretMethod } from './choose-method.ts'
import { type LoginParts, type LoginTarget, usernameOf } from './login-target.ts'

/** A login with its secrets at hand; it can be tried again with another code. */
export type PreparedLogin = (help: LoginHelp) => Promise<Account>

/** What a login is about. */
export interface LoginScene {
  readonly session: LoginParts
  readonly context: Context
  readonly target: LoginTarget
}

/** Gathers the secrets of one method, asking for what no flag brings. @throws CliError PROMPT_IMPOSSIBLE, INTERRUPTED */
export const prepareLogin = (method: SecretMethod, scene: LoginScene): Promise<PreparedLogin> =>
  methods[method](scene)

const byPassword = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { context, target } = scene
  const password = await secretOf(scene, 'password', `Password of ${target.name}:`)
  return help => context.loginWithPassword(usernameOf(target), password, help)
}

const byPin = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { session, context, target } = scene
  // Only where the method was not asked for may the person turn to another one.
  const mayTurn = session.text('with') === undefined && target.local?.username !== undefined
  const note = mayTurn ? ' (empty: use the password)' : ''
  const pin = await secretOf(scene, 'pin', `PIN of ${target.name}${note}:`)
  if (pin === '' && mayTurn) return byPassword(scene)
  return help => context.loginWithPIN(target.user, pin, help)
}

const byRecovery = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { session, context, target } = scene
  const username = usernameOf(target)
  const key =
    (await session.secrets.given('recovery-key')) ??
    target.local?.recovery2Key ??
    (await secretOf(scene, 'recovery-key', `Recovery key of ${target.name}:`))
  const answers = await answersOf(scene, key)
  return help => context.loginWithRecovery2(key, username, answers, help)
}

const byKey = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { context, target } = scene
  const key = await secretOf(scene, 'login-key', `Login key of ${target.name}:`)
  return () => context.loginWithKey(target.user, key)
}

const methods: { readonly [M in SecretMethod]: (scene: LoginScene) => Promise<PreparedLogin> } = {
  key: byKey,
  password: byPassword,
  pin: byPin,
  recovery: byRecovery
}

const secretOf = async ({ session }: LoginScene, name: SecretName, message: string): Promise<string> =>
  (await session.secrets.given(name)) ?? session.secrets.ask(name, { message })

/** The answers to the account's own questions, which the server gives to whoever has the recovery key. */
const answersOf = async (
  { session, context, target }: LoginScene,
  key: string
): Promise<readonly string[]> => {
  const { secrets, talk } = session
  const given = await secrets.given('answers')
  if (given !== undefined) return parseAnswers(given)
  if (!secrets.canAsk) throw secrets.impossible('answers')
  talk.step('fetching the questions…')
  const questions = await session.within('Fetching the questions', () =>
    context.fetchRecovery2Questions(key, usernameOf(target))
  )
  talk.clear()
  if (questions.length === 0) throw new CliError('NOT_FOUND', 'This account has no recovery questions')
  const answers: string[] = []
  for (const question of questions) answers.push(await secrets.ask('answers', { message: question }))
  return answers
}

import type { RecoveryQuestionChoice } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { secretJson, secretText } from '../../output/texts.ts'
import { type Choice, promptChoice, promptText } from '../../secrets/prompt.ts'
import { parseAnswers } from '../../secrets/secret-sources.ts'
import { ownPassword } from '../../session/allow-use.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { targetOf, usernameOf } from '../../session/log-in.ts'
import { lastMethodText, makeChange, nameOf } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Lists the questions that the server suggests. */
export const recoveryChoices: CommandRun = async session => {
  const context = await session.context()
  const choices = await session.withProgress('Fetching the choices', () =>
    context.listRecoveryQuestionChoices()
  )
  return {
    data: { choices: choices.map(choice => ({ ...choice })) },
    view: {
      kind: 'table',
      columns: [{ title: 'CATEGORY' }, { title: 'ANSWER', align: 'right' }, { title: 'QUESTION' }],
      rows: choices.map(({ category, minLength, question }) => [
        category,
        minLength > 0 ? `${minLength} letters or more` : '',
        question
      ]),
      empty: 'The server proposes no questions; choose your own with --question'
    }
  }
}

/** Shows the recovery questions of an account, given its recovery key. */
export const recoveryQuestions: CommandRun = async (session, user = '') => {
  const context = await session.context()
  const target = targetOf(context, { username: user }, user)
  const key =
    (await session.secrets.given('recovery-key')) ??
    target.local?.recovery2Key ??
    (await session.secrets.prompt('recovery-key', { message: `Recovery key of ${target.name}:` }))
  const questions = await session.withProgress('Fetching the questions', () =>
    context.fetchRecovery2Questions(key, usernameOf(target))
  )
  return {
    data: { username: usernameOf(target), questions: [...questions] },
    view: { kind: 'text', lines: [...questions] }
  }
}

/** Sets up recovery: the answers open the account together with the recovery key. */
export const recoverySetup: CommandRun = async session => {
  const account = await session.account()
  const proof = await ownPassword(session, account)
  const requested = await questionsOf(session)
  const questions = requested.map(({ question }) => question)
  const answers = await answersTo(session, requested)
  if (answers.length !== questions.length) {
    throw new CliError('USAGE', `There are ${questions.length} questions and ${answers.length} answers`)
  }
  let recoveryKey: string | undefined
  const { data, view, ...rest } = await makeChange(session, {
    doing: 'Setting up recovery',
    done: `The answers open ${nameOf(account)}, with the recovery key`,
    data: { questions: [...questions] },
    advice: session.isOn('reveal')
      ? []
      : ['Keep the recovery key apart from the answers: holdfast account recovery key --reveal'],
    async call() {
      recoveryKey = await account.credentials.changeRecovery(questions, answers, proof)
    }
  })
  if (recoveryKey === undefined || view.kind !== 'text') return { ...rest, data, view }
  return {
    ...rest,
    data: { ...data, recoveryKey: secretJson(session, recoveryKey) },
    view: { kind: 'text', lines: [...view.lines, ...(session.isOn('reveal') ? [recoveryKey] : [])] }
  }
}

/** Removes recovery. */
export const recoveryRemove: CommandRun = async session => {
  const account = await session.account()
  if (!session.globals.dryRun) {
    await confirm(session, {
      question: `${lastMethodText(account, 'recovery')}Let recovery answers open ${nameOf(account)} no more?`,
      summary: { account: account.id }
    })
  }
  return makeChange(session, {
    doing: 'Removing recovery',
    done: `Answers no longer open ${nameOf(account)}`,
    data: { removed: true },
    call: () => account.credentials.deleteRecovery()
  })
}

/** Shows the recovery key, with `--reveal`. */
export const recoveryKey: CommandRun = async session => {
  const account = await session.account()
  const key = account.credentials.getRecoveryKey()
  return {
    data: { recoveryKey: secretJson(session, key) },
    view: { kind: 'record', fields: [['recovery key', secretText(session, key)]] }
  }
}

/** The number of questions, as in the deployed applications. */
const QUESTION_COUNT = 2

/** A question, and the fewest letters that its answer may have. */
type RecoveryQuestion = Pick<RecoveryQuestionChoice, 'minLength' | 'question'>

const questionsOf = async (session: Session): Promise<readonly RecoveryQuestion[]> => {
  const given = session.texts('question')
  if (given.length > 0) return given.map(ownQuestion)
  if (!session.secrets.canPrompt) {
    throw new CliError('USAGE', 'Say what to ask for: --question "…", once for each answer', {
      next: [{ command: 'holdfast account recovery choices', why: 'see questions to choose from' }]
    })
  }
  const context = await session.context()
  const proposed = await session.withProgress('Fetching the choices', () =>
    context.listRecoveryQuestionChoices()
  )
  const chosen: RecoveryQuestion[] = []
  while (chosen.length < QUESTION_COUNT) chosen.push(await chooseQuestion(session, proposed, chosen))
  return chosen
}

const OWN = 'own'

const ownQuestion = (question: string): RecoveryQuestion => ({ question, minLength: 1 })

const chooseQuestion = async (
  { terminal }: Session,
  proposed: readonly RecoveryQuestion[],
  chosen: readonly RecoveryQuestion[]
): Promise<RecoveryQuestion> => {
  const free = proposed.filter(one => !chosen.includes(one))
  const choices: Choice[] = free.map(({ question }, place) => ({ text: question, value: String(place) }))
  const answer = await promptChoice(terminal, `Question ${chosen.length + 1} of ${QUESTION_COUNT}:`, [
    ...choices,
    { text: 'A question of my own', value: OWN }
  ])
  return free[Number(answer)] ?? ownQuestion(await promptText(terminal, 'Your question:'))
}

const answersTo = async (
  session: Session,
  questions: readonly RecoveryQuestion[]
): Promise<readonly string[]> => {
  const given = await session.secrets.given('answers')
  if (given !== undefined) return parseAnswers(given)
  const answers: string[] = []
  for (const { question: message, minLength } of questions) {
    answers.push(
      await session.secrets.prompt('answers', {
        message,
        check: text => (text.length < minLength ? `Type ${minLength} letters or more` : undefined)
      })
    )
  }
  return answers
}

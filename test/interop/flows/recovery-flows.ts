import { type Flow, makeAccount } from '../flow.ts'

const QUESTIONS = ['What was your first pet?', 'Wo haben wir uns getroffen?']
const ANSWERS = ['Rex  the Dog', 'Köln']

/** Recovery by questions and answers. */
export const recoveryFlows: readonly Flow[] = [
  {
    row: 'login by recovery',
    title: 'USER reads the questions that MAKER set and logs in by the answers',
    async run(t, pair) {
      const { device, name } = await makeAccount(pair)
      const recoveryKey = await device.changeRecovery(QUESTIONS, ANSWERS)
      const user = await pair.openUser()
      t.deepEqual(await user.recoveryQuestions(recoveryKey, name.toUpperCase()), QUESTIONS)
      const login = (answers: readonly string[]) => user.loginWithRecovery(recoveryKey, name, answers)
      await t.throwsAsync(login([...ANSWERS].reverse()), { name: 'PasswordError' })
      await t.throwsAsync(login(ANSWERS.map(answer => answer.toLowerCase())), { name: 'PasswordError' })
      await login(ANSWERS)
      t.is(await user.getLoginKey(), await device.getLoginKey())
      t.like((await user.localUsers())[0], { username: name, recoveryKey })
    }
  },
  {
    row: 'recovery changed',
    title: 'USER logs in by the new answers that MAKER set, with the same recovery key',
    async run(t, pair) {
      const { device, name } = await makeAccount(pair)
      const recoveryKey = await device.changeRecovery(QUESTIONS, ANSWERS)
      t.is(await device.changeRecovery(['Colour?'], ['blue']), recoveryKey)
      const user = await pair.openUser()
      t.deepEqual(await user.recoveryQuestions(recoveryKey, name), ['Colour?'])
      const failure = { name: 'PasswordError' }
      await t.throwsAsync(user.loginWithRecovery(recoveryKey, name, ANSWERS), failure)
      await user.loginWithRecovery(recoveryKey, name, ['blue'])
      t.is((await user.account()).username, name)
    }
  },
  {
    row: 'recovery deleted',
    title: 'USER finds no recovery after MAKER deleted it',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const recoveryKey = await made.device.changeRecovery(QUESTIONS, ANSWERS)
      await made.device.deleteRecovery()
      const user = await pair.openUser()
      const failure = { name: 'UsernameError' }
      await t.throwsAsync(user.recoveryQuestions(recoveryKey, made.name), failure)
      await t.throwsAsync(user.loginWithRecovery(recoveryKey, made.name, ANSWERS), failure)
      await user.loginWithPassword(made.name, made.password)
      t.is((await user.localUsers())[0]?.recoveryKey, undefined)
    }
  }
]

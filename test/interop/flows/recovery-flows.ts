import type { OtpFailure } from '../device.ts'
import { type Flow, makeAccount } from '../flow.ts'
import { makeProtected } from './two-factor-flows.ts'
import { begunAnew } from './voucher-flows.ts'

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
      const login = (answers: readonly string[]) =>
        user.loginWithRecovery({ recoveryKey, username: name, answers })
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
      const old = { recoveryKey, username: name, answers: ANSWERS }
      await t.throwsAsync(user.loginWithRecovery(old), failure)
      await user.loginWithRecovery({ ...old, answers: ['blue'] })
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
      const old = { recoveryKey, username: made.name, answers: ANSWERS }
      await t.throwsAsync(user.loginWithRecovery(old), failure)
      await user.loginWithPassword(made.name, made.password)
      t.is((await user.localUsers())[0]?.recoveryKey, undefined)
    }
  },
  {
    row: 'recovery with two-factor',
    title: 'USER logs in by the answers and the two-factor key that MAKER set, or a voucher of MAKER',
    async run(t, pair) {
      const { made, otpKey } = await makeProtected(t, pair)
      const recoveryKey = await made.device.changeRecovery(QUESTIONS, ANSWERS)
      const recovery = { recoveryKey, username: made.name, answers: ANSWERS }
      const user = await pair.openUser()
      const failure = await t.throwsAsync<OtpFailure>(user.loginWithRecovery(recovery), { name: 'OtpError' })
      const { voucherId = '' } = failure
      const waiting = await begunAnew(pair, user, voucherId)
      await made.device.approveVoucher(voucherId)
      await waiting.loginWithRecovery(recovery)
      t.is((await waiting.twoFactor()).otpKey, otpKey)
      const other = await pair.openUser()
      await other.loginWithRecovery(recovery, { otpKey })
      t.is(await other.getLoginKey(), await made.device.getLoginKey())
    }
  },
  {
    row: 'recovery question choices',
    title: 'USER offers the same questions to choose from as MAKER',
    lacking: ({ version }) => (version === '1.14.0' ? undefined : 'this version offers no questions'),
    async run(t, pair) {
      const [maker, user] = [await pair.openMaker(), await pair.openUser()]
      const choices = await maker.questionChoices()
      t.true(choices.length > 0)
      t.deepEqual(await user.questionChoices(), choices)
    }
  }
]

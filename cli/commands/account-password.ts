import { WalletError } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { crackTimeText } from '../output/crack-time.ts'
import { checkRules, newPassword } from '../secrets/new-secrets.ts'
import { confirm } from '../session/confirm.ts'
import { makeChange, nameOf } from '../session/make-change.ts'

/** Gives the account a new password. */
export const passwordSet: CommandRun = async session => {
  const account = await session.account()
  // Found out before a password is asked for.
  if (account.username === undefined) throw new WalletError('USERNAME_REQUIRED', {})
  const password = await newPassword(session, await session.context())
  return makeChange(session, {
    doing: 'Changing the password',
    done: `${nameOf(account)} has a new password`,
    data: { changed: true },
    call: () => account.credentials.changePassword(password)
  })
}

/** Tells by the exit code whether a password is the account's. */
export const passwordVerify: CommandRun = async session => {
  const account = await session.account()
  const password =
    (await session.secrets.given('password')) ??
    (await session.secrets.ask('password', { message: `Password of ${nameOf(account)}:` }))
  const isRight = await session.doing('Checking the password', () =>
    account.credentials.checkPassword(password)
  )
  if (!isRight) throw new WalletError('PASSWORD', {})
  return { data: { correct: true }, view: { kind: 'text', lines: ['The password is right'] } }
}

/** Takes the password away. */
export const passwordRemove: CommandRun = async session => {
  const account = await session.account()
  const summary = { account: account.id, pinLogin: account.credentials.isPinLoginEnabled }
  if (!session.globals.dryRun) {
    await confirm(session, {
      question: summary.pinLogin
        ? `Remove the password of ${nameOf(account)}? The PIN stays, on devices that know the account.`
        : `Remove the password of ${nameOf(account)}? There is no PIN either: only a login key or recovery opens it then.`,
      summary
    })
  }
  return makeChange(session, {
    doing: 'Removing the password',
    done: `${nameOf(account)} has no password any more`,
    data: { removed: true },
    call: () => account.credentials.deletePassword()
  })
}

/** Judges a password by the rules, without any account. */
export const passwordCheck: CommandRun = async session => {
  const context = await session.context()
  const password =
    (await session.secrets.given('new-password')) ??
    (await session.secrets.ask('new-password', { message: 'Password to judge:' }))
  const rules = context.checkPasswordRules(password)
  checkRules(rules)
  return {
    data: { ...rules },
    view: {
      kind: 'record',
      fields: [
        ['rules', 'kept'],
        ['guessing it takes', crackTimeText(rules.secondsToCrack)]
      ]
    }
  }
}

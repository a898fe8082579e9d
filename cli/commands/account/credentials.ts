import { WalletError } from '../../../kernel/index.ts'
import { secretJson, secretText } from '../../output/texts.ts'
import { checkRules, crackTimeText, newPassword, newPin } from '../../secrets/new-secrets.ts'
import { ownPassword } from '../../session/allow-use.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { lastMethodText, makeChange, nameOf } from '../../session/make-change.ts'

/** Changes the password of the account. */
export const passwordSet: CommandRun = async session => {
  const account = await session.account()
  // Fails before the prompt for a password.
  if (account.username === undefined) throw new WalletError('USERNAME_REQUIRED', {})
  const proof = await ownPassword(session, account)
  const password = await newPassword(session, await session.context())
  return makeChange(session, {
    doing: 'Changing the password',
    done: `${nameOf(account)} has a new password`,
    data: { changed: true },
    call: () => account.credentials.changePassword(password, proof)
  })
}

/** Checks a password of the account; the exit code is the answer. */
export const passwordVerify: CommandRun = async session => {
  const account = await session.account()
  const password =
    (await session.secrets.given('password')) ??
    (await session.secrets.prompt('password', { message: `Password of ${nameOf(account)}:` }))
  const isRight = await session.withProgress('Checking the password', () =>
    account.credentials.checkPassword(password)
  )
  if (!isRight) throw new WalletError('PASSWORD', {})
  return { data: { correct: true }, view: { kind: 'text', lines: ['The password is right'] } }
}

/** Removes the password. */
export const passwordRemove: CommandRun = async session => {
  const account = await session.account()
  const summary = { account: account.id, pinLogin: account.credentials.isPinLoginEnabled }
  if (!session.globals.dryRun) {
    await confirm(session, {
      question: summary.pinLogin
        ? `Remove the password of ${nameOf(account)}? The PIN stays, on devices that know the account.`
        : `Remove the password of ${nameOf(account)}? There is no PIN either: then only a login key or recovery opens it.`,
      summary
    })
  }
  return makeChange(session, {
    doing: 'Removing the password',
    done: `${nameOf(account)} no longer has a password`,
    data: { removed: true },
    call: () => account.credentials.deletePassword()
  })
}

/** Checks a password against the rules, without an account. */
export const passwordCheck: CommandRun = async session => {
  const context = await session.context()
  const password =
    (await session.secrets.given('new-password')) ??
    (await session.secrets.prompt('new-password', { message: 'Password to check:' }))
  const rules = context.checkPasswordRules(password)
  checkRules(rules)
  return {
    data: { ...rules },
    view: {
      kind: 'record',
      fields: [
        ['rules', 'kept'],
        ['time to guess it', crackTimeText(rules.secondsToCrack)]
      ]
    }
  }
}

/** Changes the PIN of the account. */
export const pinSet: CommandRun = async session => {
  const account = await session.account()
  const pin = await newPin(session)
  return makeChange(session, {
    doing: 'Changing the PIN',
    done: `${nameOf(account)} has a new PIN`,
    data: { changed: true },
    call: () => account.credentials.changePIN({ pin })
  })
}

/** Checks a PIN of the account; the exit code is the answer. */
export const pinVerify: CommandRun = async session => {
  const account = await session.account()
  const pin =
    (await session.secrets.given('pin')) ??
    (await session.secrets.prompt('pin', { message: `PIN of ${nameOf(account)}:` }))
  const isRight = await session.withProgress('Checking the PIN', () => account.credentials.checkPIN(pin))
  if (!isRight) throw new WalletError('PASSWORD', {})
  return { data: { correct: true }, view: { kind: 'text', lines: ['The PIN is right'] } }
}

/** Removes the PIN. */
export const pinRemove: CommandRun = async session => {
  const account = await session.account()
  if (!session.globals.dryRun) {
    await confirm(session, {
      question: `${lastMethodText(account, 'pin')}Remove the PIN of ${nameOf(account)}, on every device?`,
      summary: { account: account.id }
    })
  }
  return makeChange(session, {
    doing: 'Removing the PIN',
    done: `${nameOf(account)} no longer has a PIN`,
    data: { removed: true },
    call: () => account.credentials.deletePIN()
  })
}

/** Enables login by PIN. */
export const pinEnable: CommandRun = async session => {
  const account = await session.account()
  return makeChange(session, {
    doing: 'Switching PIN login on',
    done: `The PIN of ${nameOf(account)} logs in`,
    data: { pinEnabled: true },
    call: () => account.credentials.changePIN({ enableLogin: true })
  })
}

/** Keeps the PIN, but disables login by PIN. */
export const pinDisable: CommandRun = async session => {
  const account = await session.account()
  const lastWay = lastMethodText(account, 'pin')
  if (lastWay !== '' && !session.globals.dryRun) {
    await confirm(session, {
      question: `${lastWay}Disable login with the PIN?`,
      summary: { account: account.id }
    })
  }
  return makeChange(session, {
    doing: 'Switching PIN login off',
    done: `The PIN of ${nameOf(account)} is kept, but no longer logs in`,
    data: { pinEnabled: false },
    call: () => account.credentials.changePIN({ enableLogin: false })
  })
}

/** Shows the PIN, with `--reveal`. */
export const pinShow: CommandRun = async session => {
  const account = await session.account()
  const { hasPin, isPinLoginEnabled } = account.credentials
  if (!hasPin) throw new WalletError('PIN_NOT_LOCAL', {})
  const pin = account.credentials.getPIN()
  return {
    data: { pin: secretJson(session, pin), pinEnabled: isPinLoginEnabled },
    view: {
      kind: 'record',
      fields: [
        ['PIN', secretText(session, pin)],
        ['login by PIN', isPinLoginEnabled ? 'on' : 'off']
      ]
    }
  }
}

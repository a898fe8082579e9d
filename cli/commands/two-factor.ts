import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { parseSpan } from '../grammar/values.ts'
import { localTime, spanText } from '../output/times.ts'
import { confirmTyped } from '../session/confirm-typed.ts'
import { makeChange, nameOf } from '../session/make-change.ts'
import { refreshedAccount } from '../session/refreshed-account.ts'

/** Shows whether two-factor is on, and what waits. */
export const status: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const { isEnabled, otpTimeout, otpResetDate, pendingVouchers } = account.twoFactor.status
  return {
    data: {
      enabled: isEnabled,
      resetAfterSeconds: otpTimeout ?? null,
      otpResetDate: otpResetDate?.toISOString() ?? null,
      pendingVouchers: pendingVouchers.length
    },
    view: {
      kind: 'record',
      fields: [
        ['two-factor', isEnabled ? { text: 'on', tone: 'good' } : { text: 'off', tone: 'warn' }],
        ['a reset waits', otpTimeout === undefined ? '' : spanText(otpTimeout)],
        ['reset', otpResetDate === undefined ? 'nobody asked' : resetCell(otpResetDate)],
        ['devices that wait', String(pendingVouchers.length)]
      ]
    },
    warnings
  }
}

const resetCell = (date: Date) =>
  ({
    text: `asked for: two-factor goes off at ${localTime(date)}, unless you cancel: holdfast 2fa reset cancel`,
    tone: 'bad'
  }) as const

/** Asks new devices for a code or an approval. */
export const enable: CommandRun = async session => {
  const after = session.text('resetAfter')
  const seconds = after === undefined ? undefined : parseSpan(after)
  const account = await session.account()
  const result = await makeChange(session, {
    doing: 'Switching two-factor on',
    done: `Two-factor is on for ${nameOf(account)}`,
    data: { enabled: true },
    advice: [
      'This device has the key. Give it to an authenticator, and keep it: holdfast 2fa key --reveal --qr'
    ],
    call: () => account.twoFactor.enableOtp(seconds)
  })
  const { otpTimeout } = account.twoFactor.status
  return { ...result, data: { ...result.data, resetAfterSeconds: otpTimeout ?? seconds ?? null } }
}

/** Switches two-factor off, for every device. */
export const disable: CommandRun = async (session): Promise<CommandResult> => {
  const account = await session.account()
  const name = nameOf(account)
  if (!session.globals.dryRun) {
    await confirmTyped(session, {
      question: `Switch two-factor of ${name} off? Its key and codes are then worth nothing.`,
      name,
      summary: { account: account.id, username: account.username ?? null }
    })
  }
  return makeChange(session, {
    doing: 'Switching two-factor off',
    done: `Two-factor is off for ${name}`,
    data: { enabled: false },
    call: () => account.twoFactor.disableOtp()
  })
}

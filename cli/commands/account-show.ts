import type { CommandRun } from '../command.ts'
import { secretJson, secretText } from '../output/revealed.ts'
import { localTime } from '../output/times.ts'
import { refreshedAccount } from '../session/refreshed-account.ts'

/** Shows the account and what is set up for it; its secrets with `--reveal`. */
export const accountShow: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const { id, username, loginMethod, isEdgeLogin, isLight, credentials, twoFactor } = account
  const { appId } = account.getSnapshot()
  const { isEnabled, otpResetDate, pendingVouchers } = twoFactor.status
  const otpKey = isEnabled ? twoFactor.getOtpKey() : undefined
  const recoveryKey = credentials.hasRecovery ? credentials.getRecoveryKey() : undefined
  return {
    data: {
      loginId: id,
      username: username ?? null,
      method: loginMethod,
      appId,
      edgeLogin: isEdgeLogin,
      light: isLight,
      password: credentials.hasPassword,
      pinEnabled: credentials.isPinLoginEnabled,
      twoFactor: isEnabled,
      otpResetDate: otpResetDate?.toISOString() ?? null,
      pendingVouchers: pendingVouchers.length,
      recovery: recoveryKey !== undefined,
      rootLoginId: secretJson(session, account.rootLoginId),
      otpKey: secretJson(session, otpKey),
      recoveryKey: secretJson(session, recoveryKey)
    },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? '(light, without a username)'],
        ['app', appId === '' ? 'the whole account' : appId],
        ['logged in by', isEdgeLogin ? `${loginMethod}, for its app alone` : loginMethod],
        ['password', credentials.hasPassword ? 'on' : 'off'],
        ['login by PIN', credentials.isPinLoginEnabled ? 'on' : 'off'],
        ['recovery', recoveryKey === undefined ? 'off' : 'on'],
        ['two-factor', isEnabled ? 'on' : 'off'],
        ...(otpResetDate === undefined
          ? []
          : [['two-factor goes off', { text: localTime(otpResetDate), tone: 'warn' } as const] as const]),
        ['devices that wait', String(pendingVouchers.length)],
        ['root login id', secretText(session, account.rootLoginId)],
        ['two-factor key', secretText(session, otpKey)],
        ['recovery key', secretText(session, recoveryKey)]
      ]
    },
    warnings
  }
}

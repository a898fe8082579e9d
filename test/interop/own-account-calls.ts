import { isWalletError } from '../../kernel/base/errors.ts'
import type { CredentialCalls, TwoFactorCalls } from './device.ts'
import { type OwnSession, ownAccountOf } from './own-session.ts'

/** Changes of an account by Holdfast. */
export const ownCredentialCalls = (session: OwnSession): CredentialCalls => {
  const mine = () => ownAccountOf(session).credentials
  return {
    checkPassword: password => mine().checkPassword(password),
    changePassword: password => mine().changePassword(password),
    deletePassword: () => mine().deletePassword(),
    async getPin() {
      try {
        return mine().getPIN()
      } catch (error) {
        if (isWalletError(error, 'PIN_NOT_LOCAL')) return undefined
        throw error
      }
    },
    checkPin: pin => mine().checkPIN(pin),
    changePin: change => mine().changePIN(change),
    deletePin: () => mine().deletePIN(),
    changeRecovery: (questions, answers) => mine().changeRecovery(questions, answers),
    deleteRecovery: () => mine().deleteRecovery(),
    changeUsername: change => mine().changeUsername(change),
    deleteRemoteAccount: () => mine().deleteRemoteAccount()
  }
}

/** Two-factor, vouchers and lobbies of Holdfast. */
export const ownTwoFactorCalls = (session: OwnSession): TwoFactorCalls => {
  const mine = () => ownAccountOf(session).twoFactor
  const requestOf = async (lobbyId: string) => {
    const { loginRequest } = await ownAccountOf(session).fetchLobby(lobbyId)
    if (loginRequest === undefined) throw new Error('Nobody asks for a login there')
    return loginRequest
  }
  return {
    async twoFactor() {
      const { otpResetDate, pendingVouchers } = mine().status
      const otpKey = mine().getOtpKey()
      return {
        ...(otpKey === undefined ? {} : { otpKey }),
        ...(otpResetDate === undefined ? {} : { otpResetDate }),
        vouchers: pendingVouchers
      }
    },
    enableOtp: timeoutSeconds => mine().enableOtp(timeoutSeconds),
    disableOtp: () => mine().disableOtp(),
    cancelOtpReset: () => mine().cancelOtpReset(),
    repairOtp: otpKey => mine().repairOtp(otpKey),
    approveVoucher: voucherId => mine().approveVoucher(voucherId),
    rejectVoucher: voucherId => mine().rejectVoucher(voucherId),
    async appOfLobby(lobbyId) {
      const { appId, displayName } = await requestOf(lobbyId)
      return { appId, displayName }
    },
    approveEdgeLogin: async lobbyId => (await requestOf(lobbyId)).approve()
  }
}

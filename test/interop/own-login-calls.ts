import type { LoginCalls, UserCalls } from './device.ts'
import { type OwnSession, ownAccountOf } from './own-session.ts'

/** The users of a device that runs Holdfast. */
export const ownUserCalls = ({ kernel: { context } }: OwnSession): UserCalls => ({
  localUsers: async () =>
    context.localUsers.map(({ loginId, username, isPinLoginEnabled, isKeyLoginEnabled, recovery2Key }) => ({
      loginId,
      ...(username === undefined ? {} : { username }),
      isPinLoginEnabled,
      isKeyLoginEnabled,
      ...(recovery2Key === undefined ? {} : { recoveryKey: recovery2Key })
    })),
  usernameAvailable: username => context.usernameAvailable(username),
  messages: async () =>
    (await context.fetchLoginMessages()).map(({ loginId, username, otpResetPending, pendingVouchers }) => ({
      loginId,
      ...(username === undefined ? {} : { username }),
      otpResetPending,
      vouchers: pendingVouchers
    })),
  recoveryQuestions: (recoveryKey, username) => context.fetchRecovery2Questions(recoveryKey, username),
  questionChoices: () => context.listRecoveryQuestionChoices(),
  passwordRules: async password => context.checkPasswordRules(password),
  requestOtpReset: (username, resetToken) => context.requestOtpReset(username, resetToken)
})

/** The ways into Holdfast. */
export const ownLoginCalls = (session: OwnSession): LoginCalls => {
  const { context } = session.kernel
  return {
    async createAccount(account) {
      session.account = await context.createAccount(account)
    },
    async loginWithPassword(username, password, help) {
      session.account = await context.loginWithPassword(username, password, help)
    },
    async loginWithPIN(user, pin, help) {
      session.account = await context.loginWithPIN(user, pin, help)
    },
    async loginWithKey(user, loginKey) {
      session.account = await context.loginWithKey(user, loginKey)
    },
    async loginWithRecovery({ recoveryKey, username, answers }, help) {
      session.account = await context.loginWithRecovery2(recoveryKey, username, answers, help)
    },
    async requestEdgeLogin() {
      session.edgeLogin = await context.requestEdgeLogin()
      return session.edgeLogin.lobbyId
    },
    async finishEdgeLogin() {
      session.account = await session.edgeLogin?.account
    },
    async logout() {
      await ownAccountOf(session).logout()
      session.account = undefined
    },
    async account() {
      const { username, rootLoginId, isEdgeLogin, getSnapshot } = ownAccountOf(session)
      const name = username === undefined ? {} : { username }
      return { ...name, rootLoginId, isEdgeLogin, walletIds: getSnapshot().walletIds }
    },
    getLoginKey: async () => ownAccountOf(session).getLoginKey()
  }
}

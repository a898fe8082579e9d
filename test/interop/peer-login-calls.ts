import type { DeviceUserName, LoginCalls, UserCalls } from './device.ts'
import { accountOf, type CoreEdgeLogin, type CoreLoginOptions, type PeerSession } from './peer-core.ts'

/** The users of a device that runs the published core. */
export const peerUserCalls = ({ context }: PeerSession): UserCalls => ({
  localUsers: async () =>
    context.localUsers.map(({ loginId, username, pinLoginEnabled, keyLoginEnabled, recovery2Key }) => ({
      loginId,
      ...(username === undefined ? {} : { username }),
      isPinLoginEnabled: pinLoginEnabled,
      isKeyLoginEnabled: keyLoginEnabled,
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
  questionChoices: async () =>
    (await context.listRecoveryQuestionChoices()).map(({ min_length: minLength, category, question }) => ({
      category,
      question,
      minLength
    })),
  passwordRules: async password => context.checkPasswordRules(password),
  requestOtpReset: (username, resetToken) => context.requestOtpReset(username, resetToken)
})

/** The ways into the published core. */
export const peerLoginCalls = (session: PeerSession): LoginCalls => {
  const { context } = session
  let waiting: CoreEdgeLogin | undefined
  return {
    async createAccount(account) {
      session.account = await context.createAccount(account)
    },
    async loginWithPassword(username, password, help) {
      session.account = await context.loginWithPassword(username, password, help)
    },
    async loginWithPIN(user, pin, help) {
      session.account = await context.loginWithPIN(nameOf(user), pin, { ...help, ...kindOf(user) })
    },
    async loginWithKey(user, loginKey) {
      session.account = await context.loginWithKey(nameOf(user), loginKey, kindOf(user))
    },
    async loginWithRecovery({ recoveryKey, username, answers }, help) {
      session.account = await context.loginWithRecovery2(recoveryKey, username, answers, help)
    },
    async requestEdgeLogin() {
      waiting = await context.requestEdgeLogin()
      return waiting.id
    },
    async finishEdgeLogin() {
      if (waiting === undefined) throw new Error('No edge login was requested')
      session.account = await endOf(waiting)
    },
    async logout() {
      await accountOf(session).logout()
      session.account = undefined
    },
    async account() {
      const { username, rootLoginId, edgeLogin, activeWalletIds } = accountOf(session)
      const name = username === undefined ? {} : { username }
      return { ...name, rootLoginId, isEdgeLogin: edgeLogin, walletIds: activeWalletIds }
    },
    getLoginKey: () => accountOf(session).getLoginKey()
  }
}

const nameOf = (user: DeviceUserName): string => ('loginId' in user ? user.loginId : user.username)

const kindOf = (user: DeviceUserName): CoreLoginOptions => ('loginId' in user ? { useLoginId: true } : {})

const endOf = async (login: CoreEdgeLogin) => {
  while (login.state === 'pending' || login.state === 'started') {
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  if (login.account === undefined) throw login.error ?? new Error(`The edge login ended as ${login.state}`)
  return login.account
}

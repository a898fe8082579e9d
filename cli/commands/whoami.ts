import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { readCurrentAccount } from '../profile/current-account.ts'

/** Tells which account is the current one and how it logged in; asks for no secret. */
export const whoami: CommandRun = async session => {
  const current = readCurrentAccount(session.paths.session)
  if (current === undefined) {
    throw new CliError('NOT_LOGGED_IN', 'No account is logged in on this device', {
      next: [{ command: 'holdfast login <user>', why: 'log in to an account' }]
    })
  }
  const { loginId, username, method, appId, isEdgeLogin = false } = current
  const context = await session.context()
  const local = context.localUsers.find(user => user.loginId === loginId)
  const isLight = username === undefined
  return {
    data: {
      loginId,
      username: username ?? null,
      method: method ?? null,
      appId: appId ?? null,
      edgeLogin: isEdgeLogin,
      light: isLight,
      pinEnabled: local?.isPinLoginEnabled ?? false,
      keyEnabled: local?.isKeyLoginEnabled ?? false
    },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? '(light, without a username)'],
        ['login id', loginId],
        ['logged in by', method ?? 'unknown'],
        ['app', appId === undefined || appId === '' ? 'the whole account' : appId],
        ['edge login', isEdgeLogin ? 'yes: approved for its app alone' : 'no'],
        ['PIN', local?.isPinLoginEnabled === true ? 'on' : 'off']
      ]
    }
  }
}

import { failureLine } from '../../base/errors.ts'
import type { Services } from '../../plugins/services.ts'
import { parseMessage, parseMessageList } from '../../schema/login.ts'
import type { LoginMessage, LoginStash } from '../../types/login.ts'
import { loginFetch } from './login-server.ts'

/**
 * Asks for news of every user of this device: devices that wait, and resets of two-factor (specification §7).
 *
 * Needs no secret. An entry that cannot be read is skipped, so that the news of the other users arrives.
 *
 * @returns in the order of `users`; only users that the server knows
 * @throws NETWORK, BAD_REPLY and what the server answers; asks nothing where there are no users
 */
export const fetchLoginMessages = async (
  port: Pick<Services, 'io' | 'config' | 'logOf'>,
  users: readonly LoginStash[]
): Promise<readonly LoginMessage[]> => {
  if (users.length === 0) return []
  const loginIds = users.map(({ loginId }) => loginId)
  const entries = parseMessageList(await loginFetch(port, 'POST', '/v2/messages', { loginIds }))
  const found = new Map(entries.flatMap(entry => readMessage(port, entry)).map(news => [news.loginId, news]))
  return users.flatMap(({ loginId, username }) => {
    const message = found.get(loginId)
    if (message === undefined) return []
    return [{ ...message, ...(username === undefined ? {} : { username }) }]
  })
}

const readMessage = ({ logOf }: Pick<Services, 'logOf'>, entry: unknown): LoginMessage[] => {
  try {
    return [parseMessage(entry)]
  } catch (error) {
    logOf('login').warn(failureLine('The news of one user could not be read', error))
    return []
  }
}

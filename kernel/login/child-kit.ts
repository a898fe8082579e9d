import type { Io } from '../io/io.ts'
import type { LoginTree } from '../types/login.ts'
import type { LoginKit } from './login-kit.ts'
import { makeNewLogin, type NewLoginOptions } from './new-login.ts'

/** Makes the login of an app below another login, with a PIN of its own where that has one (protocol §4.4). */
export const makeChildKit = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  parent: LoginTree,
  child: Pick<NewLoginOptions, 'appId' | 'username' | 'walletInfos'>
): Promise<LoginKit> => {
  const parentKey = parent.loginKey.use(key => key.slice())
  const made = await makeNewLogin(io, { ...child, pin: parent.pin, parentKey })
  for (const key of [parentKey, made.loginKey]) key.fill(0)
  return {
    loginId: parent.loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/create',
    serverBody: made.serverBody,
    stash: { children: [made.stash] }
  }
}

import type { Io } from '../../io/io.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../keys/wallet-info.ts'
import type { SecretWalletInfo, WalletInfo } from '../../types/keys.ts'
import type { LoginTree } from '../../types/login.ts'
import { findTree } from '../login-tree.ts'
import { makeKeysKit } from './keys-kit.ts'
import type { LoginKit } from './login-kit.ts'
import { makeNewLogin } from './new-login.ts'

/** An app whose account shall be ready. */
export interface AppAccount {
  readonly appId: string
  /** Of the root login, normalised; `undefined` if it has none. */
  readonly username: string | undefined
}

/** The repo of an app's account, where a login or one below it has it (pure). */
export const findAppRepo = (held: LoginTree, appId: string): SecretWalletInfo | undefined => {
  const type = accountRepoTypeOf(appId)
  return findTree(held, node => node.appId === appId)?.walletInfos.find(info => info.type === type)
}

/**
 * Makes the repo of an app's account, and below `held` the app's login, if there is none yet (protocol §4.4 step 3).
 *
 * A login of its own gets a PIN of its own where PIN login is switched on above.
 */
export const makeAppKit = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  held: LoginTree,
  app: AppAccount
): Promise<LoginKit> => {
  const repo = makeWalletInfo(io, accountRepoTypeOf(app.appId))
  const node = findTree(held, ({ appId }) => appId === app.appId)
  if (node === undefined) return makeChildKit(io, held, { app, repo })
  return node.loginKey.use(loginKey => makeKeysKit(io, { loginId: node.loginId, loginKey }, [repo]))
}

const makeChildKit = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  parent: LoginTree,
  { app, repo }: { readonly app: AppAccount; readonly repo: WalletInfo }
): Promise<LoginKit> => {
  const pin = parent.pin2Key === undefined ? undefined : parent.pin
  const parentKey = parent.loginKey.use(key => key.slice())
  const child = await makeNewLogin(io, { ...app, pin, walletInfos: [repo], parentKey })
  for (const key of [parentKey, child.loginKey]) key.fill(0)
  return {
    loginId: parent.loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/create',
    serverBody: child.serverBody,
    stash: { children: [child.stash] }
  }
}

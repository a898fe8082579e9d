import type { LoginTree } from '../../types/login.ts'
import type { LoginKit } from './login-kit.ts'

/** Deletes a login on the server, with all below it (specification §7). */
export const makeDeletionKit = ({ loginId }: LoginTree): LoginKit => ({
  loginId,
  serverMethod: 'POST',
  serverPath: '/v2/login/delete',
  stash: {}
})

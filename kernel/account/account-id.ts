import { base58Of, utf8Of } from '../crypto/encoding.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'

/** The id of a login's account; where keys are hidden, one that leads nobody to the login. */
export const accountIdOf = ({ config, io }: Services, { rootLoginId }: Pick<Login, 'rootLoginId'>): string =>
  config.hideKeys ? base58Of(io.crypto.sha256(utf8Of(rootLoginId)).subarray(0, 16)) : rootLoginId

import { isWalletError } from '../../base/errors.ts'
import type { Services } from '../../plugins/services.ts'
import type { LoginSnapshot } from '../../types/snapshots.ts'

/** Tells where a login attempt stands. */
export type ToldStage = (stage: 'deriving' | 'asking' | 'opening') => void

/** Runs one login attempt and tells the `loginChanged` hook of its stages, the last being `ready` or `failed`. */
export const tellAttempt = async <T>(
  { io, hooks }: Pick<Services, 'io' | 'hooks'>,
  method: LoginSnapshot['method'],
  attempt: (stage: ToldStage) => Promise<T>
): Promise<T> => {
  const attemptId = io.crypto.toHex(io.random(8))
  const tell = (stage: LoginSnapshot['stage'], errorCode?: string): void =>
    hooks.loginChanged.call(
      Object.freeze({ attemptId, method, stage, ...(errorCode === undefined ? {} : { errorCode }) })
    )
  try {
    const result = await attempt(tell)
    tell('ready')
    return result
  } catch (error) {
    tell('failed', isWalletError(error) ? error.code : undefined)
    throw error
  }
}

import { WalletError } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import { sealBox, sealJson } from '../../crypto/box.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import type { Io } from '../../io/io.ts'
import type { LoginTree } from '../../types/login.ts'
import { recovery2AuthOf, recovery2IdOf } from '../derive.ts'
import type { LoginKit } from './login-kit.ts'
import { keepOrMakeKey } from './proven-key.ts'

/** Recovery questions and what the owner answers, in the same order. */
export interface NewRecovery {
  readonly questions: readonly string[]
  readonly answers: Secret<readonly string[]>
}

/**
 * Checks questions and answers that somebody gave.
 *
 * @throws OPTION_INVALID unless both are arrays of strings (specification §5), one answer to each question, at least one
 */
export const checkRecovery = (questions: readonly string[], answers: readonly string[]): void => {
  checkTexts('questions', questions)
  checkTexts('answers', answers)
  // No answers would let in whoever has the key, and the server would not let in anybody.
  if (questions.length === 0 || questions.length !== answers.length) {
    throw new WalletError('OPTION_INVALID', { option: 'answers', rule: 'must be one to each question' })
  }
}

/** Checks a list of texts that somebody gave. @throws OPTION_INVALID unless it is an array of strings */
export const checkTexts = (option: string, texts: readonly string[]): void => {
  if (Array.isArray(texts) && texts.every(text => typeof text === 'string' && isWellFormed(text))) return
  throw new WalletError('OPTION_INVALID', { option, rule: 'must be an array of strings' })
}

/**
 * Switches recovery on for a root login, or changes its questions and answers; a recovery key that people have
 * written down stays good, if this product made it (protocol §1.5, §2.4).
 *
 * @throws RECOVERY_USERNAME_REQUIRED if the login has no username, as a light one or that of an app
 */
export const makeRecoveryKit = (
  io: Pick<Io, 'crypto' | 'random'>,
  { isRoot, loginId, loginKey, username, recovery2Key: known }: LoginTree,
  { questions, answers }: NewRecovery
): LoginKit => {
  if (username === undefined || !isRoot) throw new WalletError('RECOVERY_USERNAME_REQUIRED', {})
  const { toBase64 } = io.crypto
  const recovery2Key = loginKey.use(key => keepOrMakeKey(io, { use: 'recovery2Key', loginKey: key, known }))
  try {
    const recovery2Auth = answers.use(texts => recovery2AuthOf(io, recovery2Key, texts))
    return {
      loginId,
      serverMethod: 'POST',
      serverPath: PATH,
      serverBody: {
        recovery2Id: toBase64(recovery2IdOf(io, recovery2Key, username)),
        recovery2Auth: recovery2Auth.map(toBase64),
        recovery2Box: { ...loginKey.use(key => sealBox(io, recovery2Key, key)) },
        recovery2KeyBox: { ...loginKey.use(key => sealBox(io, key, recovery2Key)) },
        question2Box: { ...sealJson(io, recovery2Key, [...questions]) }
      },
      stash: { recovery2Key: toBase64(recovery2Key) }
    }
  } finally {
    recovery2Key.fill(0)
  }
}

/** Switches recovery off; the recovery key is then worth nothing (protocol §2.4). */
export const makeRecoveryRemovalKit = ({ loginId }: LoginTree): LoginKit => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: PATH,
  stash: { recovery2Key: undefined }
})

const PATH = '/v2/login/recovery2'

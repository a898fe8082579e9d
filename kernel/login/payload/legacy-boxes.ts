import type { Io } from '../../io/io.ts'
import type { LoginPayload, LoginStash } from '../../types/login.ts'
import { openBitidInfo, openLegacyRepoInfo } from './legacy-keys.ts'

/** The boxes that only old accounts have. */
export type LegacyBoxes = Pick<LoginStash, 'mnemonicBox' | 'rootKeyBox' | 'syncKeyBox'>

/**
 * The first of each that opens, for a what an old account is made of never changes.
 *
 * What no version can open is left out, so that a lie of a server does not outlast it.
 *
 * @param versions - of one login, the known one before the one that a server sent
 */
export const soundLegacyBoxes = (
  io: Pick<Io, 'crypto'>,
  loginKey: Uint8Array,
  versions: readonly (LoginStash | LoginPayload)[]
): LegacyBoxes => {
  const bitid = versions.find(({ rootKeyBox, mnemonicBox }) =>
    isSound(() => rootKeyBox && mnemonicBox && openBitidInfo(io, loginKey, { rootKeyBox, mnemonicBox }))
  )
  const repo = versions.find(({ appId, syncKeyBox }) =>
    isSound(() => syncKeyBox && openLegacyRepoInfo(io, loginKey, { appId, syncKeyBox }))
  )
  return {
    ...(bitid?.rootKeyBox && { rootKeyBox: bitid.rootKeyBox }),
    ...(bitid?.mnemonicBox && { mnemonicBox: bitid.mnemonicBox }),
    ...(repo?.syncKeyBox && { syncKeyBox: repo.syncKeyBox })
  }
}

const isSound = (open: () => object | undefined): boolean => {
  try {
    return open() !== undefined
  } catch {
    return false
  }
}

import { WalletError } from '../../base/errors.ts'
import { openBox, openText } from '../../crypto/box.ts'
import { utf8Of } from '../../crypto/encoding.ts'
import type { Io } from '../../io/io.ts'
import { walletIdOf } from '../../keys/wallet-id.ts'
import { accountRepoTypeOf } from '../../keys/wallet-info.ts'
import type { Box, WalletInfo } from '../../types/keys.ts'

type CryptoIo = Pick<Io, 'crypto'>

const BITID = 'wallet:bitid'

/**
 * The key that old accounts have of their own, with the words that it was made from (protocol §1.3, §1.7).
 *
 * Its id follows from the root key, and it has no repo.
 *
 * @throws INVALID_CHECKSUM and the other failures of boxes
 */
export const openBitidInfo = (
  io: CryptoIo,
  loginKey: Uint8Array,
  { rootKeyBox, mnemonicBox }: { readonly rootKeyBox: Box; readonly mnemonicBox: Box }
): WalletInfo => {
  const rootKey = openBox(io, loginKey, rootKeyBox)
  const infoKey = infoKeyOf(io, rootKey)
  try {
    const mnemonic = openText(io, infoKey, mnemonicBox)
    const keys = { mnemonic, rootKey: io.crypto.toBase64(rootKey) }
    return { id: walletIdOf(io, BITID, rootKey), type: BITID, keys }
  } finally {
    for (const key of [rootKey, infoKey]) key.fill(0)
  }
}

/**
 * The repo of an old account: its data key is the login key (protocol §1.7).
 *
 * Hazard: sync servers are told the sync key. A login server could put the box of another secret of the login in its
 * place, but those have other lengths.
 *
 * @throws KEY_INTEGRITY, INVALID_CHECKSUM and the other failures of boxes
 */
export const openLegacyRepoInfo = (
  io: CryptoIo,
  loginKey: Uint8Array,
  { appId, syncKeyBox }: { readonly appId: string; readonly syncKeyBox: Box }
): WalletInfo => {
  const type = accountRepoTypeOf(appId)
  const { toBase64 } = io.crypto
  const syncKey = openBox(io, loginKey, syncKeyBox)
  const keys = { dataKey: toBase64(loginKey), syncKey: toBase64(syncKey) }
  const isSyncKey = syncKey.length === 20
  syncKey.fill(0)
  if (!isSyncKey) throw new WalletError('KEY_INTEGRITY', { rule: 'the sync key of a login is not 20 bytes' })
  return { id: walletIdOf(io, type, loginKey), type, keys }
}

/** The key of the box with the words: the constant is the HMAC's key (protocol §1.3). */
export const infoKeyOf = ({ crypto }: CryptoIo, rootKey: Uint8Array): Uint8Array =>
  crypto.hmacSha256(utf8Of('infoKey'), rootKey)

import { base58Of, utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { FileHash, WalletId } from '../types/ids.ts'

type CryptoIo = Pick<Io, 'crypto'>

/** The id of a wallet or account repo, in base64: one type and one data key have one id (protocol §1.7). */
export const walletIdOf = (io: CryptoIo, type: string, dataKey: Uint8Array): WalletId =>
  io.crypto.toBase64(io.crypto.hmacSha256(dataKey, utf8Of(type)))

/** The base58 name of a repo: a double SHA-256, which reveals nothing of the sync key; logs show it (protocol §1.7). */
export const repoIdOf = (io: CryptoIo, syncKey: Uint8Array): string =>
  base58Of(io.crypto.sha256(io.crypto.sha256(syncKey)))

/** The folder where deployed clients keep a repo. */
export const repoFolderOf = (io: CryptoIo, syncKey: Uint8Array): string => `repos/${repoIdOf(io, syncKey)}`

/** The folder where deployed clients keep the local data of a wallet. `walletId`: base64. */
export const localFolderOf = (io: CryptoIo, walletId: WalletId): string =>
  `local/${base58Of(io.crypto.fromBase64(walletId))}`

/** The base58 name that hides a text from a server that sees file names only (protocol §1.7). */
export const fileHashOf = (io: CryptoIo, dataKey: Uint8Array, text: string): FileHash =>
  base58Of(io.crypto.hmacSha256(dataKey, utf8Of(text)))

/** The file that keeps the stash of a login (protocol §1.7). */
export const stashPathOf = (loginId: Uint8Array): string => `logins/${base58Of(loginId)}.json`

import { WalletError } from '../base/errors.ts'
import { utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { WalletInfo } from '../types/keys.ts'

/**
 * The same keys as a wallet of another currency that shares its chain's past (protocol §5.3).
 *
 * Id and sync key change by a mask that follows from the data key and the two types, so that a split has one result
 * wherever it is made, and splitting back gives the first wallet. All other keys stay; the network's own is renamed.
 *
 * @throws KEY_INTEGRITY if the wallet has no data key or no sync key
 */
export const splitWalletInfo = (io: Pick<Io, 'crypto'>, info: WalletInfo, type: string): WalletInfo => {
  const { toBase64, fromBase64, hmacSha256 } = io.crypto
  const { id, keys } = info
  const { dataKey, syncKey, [keyNameOf(info.type)]: networkKey, ...rest } = keys
  if (typeof dataKey !== 'string' || typeof syncKey !== 'string')
    throw new WalletError('KEY_INTEGRITY', { rule: 'a wallet without a repo cannot be split' })
  const key = fromBase64(dataKey)
  const mask = xor(hmacSha256(key, utf8Of(info.type)), hmacSha256(key, utf8Of(type)))
  key.fill(0)
  return {
    id: toBase64(xor(fromBase64(id), mask)),
    type,
    keys: {
      ...rest,
      dataKey,
      syncKey: toBase64(xor(fromBase64(syncKey), mask)),
      ...(networkKey === undefined ? {} : { [keyNameOf(type)]: networkKey })
    }
  }
}

/** Where a type keeps what its plugin made: `wallet:lab-cash` under `labcashKey`. */
const keyNameOf = (type: string): string => `${type.replace('wallet:', '').replace('-', '')}Key`

const xor = (bytes: Uint8Array, mask: Uint8Array): Uint8Array =>
  bytes.map((byte, at) => byte ^ (mask[at] ?? 0))

import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { type CryptoPort, WalletError, type WalletKeys } from '../../../../kernel/plugin-api.ts'
import type { CoinRow, KeyFormat, NetworkRow } from '../params/coin-row.ts'
import { isKeyFormat } from './branches.ts'

/** The secret of a wallet, ready for BIP-32. */
export interface SeedInfo {
  readonly seed: Uint8Array
  readonly format: KeyFormat
  readonly coinType: number
}

/**
 * Reads the seed of a wallet from its keys.
 *
 * Wallets of format bip32 keep 32 raw bytes in base64; all others keep BIP-39 words. The words win if both fit.
 *
 * @throws KEY_INTEGRITY if the key is missing or neither words nor base64 of 16 to 64 bytes
 */
export const seedOf = (
  coin: CoinRow,
  network: NetworkRow,
  keys: WalletKeys,
  crypto: CryptoPort
): SeedInfo => {
  const text = keys[coin.keyName]
  const format = formatFrom(coin, keys)
  const coinType = coinTypeFrom(network, keys)
  if (typeof text !== 'string') throw new WalletError('KEY_INTEGRITY', { rule: `no ${coin.keyName}` })
  const words = normalWords(text)
  if (validateMnemonic(words, wordlist)) return { seed: mnemonicToSeedSync(words), format, coinType }
  return { seed: rawSeedOf(text, crypto), format, coinType }
}

/** The format a wallet's keys name; old wallets name none. @throws KEY_INTEGRITY for a format unknown here */
export const formatFrom = (coin: CoinRow, keys: WalletKeys): KeyFormat => {
  const format = keys.format ?? coin.oldFormat
  if (isKeyFormat(format) && coin.formats.includes(format)) return format
  throw new WalletError('KEY_INTEGRITY', { rule: `${coin.pluginId} has no such key format` })
}

/** The coin type a wallet's keys name, else the network's. @throws KEY_INTEGRITY for anything but a BIP-44 index */
export const coinTypeFrom = (network: NetworkRow, keys: WalletKeys): number => {
  const coinType = keys.coinType ?? network.coinType
  if (typeof coinType === 'number' && Number.isInteger(coinType) && coinType >= 0 && coinType < 0x80000000) {
    return coinType
  }
  throw new WalletError('KEY_INTEGRITY', { rule: 'coinType must be a BIP-44 index' })
}

/** Words in the one form that BIP-39 hashes: lower case, one space between. */
export const normalWords = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

const rawSeedOf = (text: string, crypto: CryptoPort): Uint8Array => {
  let seed: Uint8Array | undefined
  try {
    seed = crypto.fromBase64(text.trim())
  } catch {
    // Not base64; the message below must not quote it.
  }
  if (seed === undefined || seed.length < 16 || seed.length > 64) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the key is neither BIP-39 words nor a base64 seed' })
  }
  return seed
}

import { entropyToMnemonic, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { type Io, type JsonObject, WalletError, type WalletKeys } from '../../../../kernel/plugin-api.ts'
import type { CoinRow, KeyFormat, NetworkRow } from '../params/coin-row.ts'
import { accountFromText, isExtendedPrivate } from './account-keys.ts'
import { isKeyFormat } from './branches.ts'
import { normalWords } from './seed.ts'

/** Makes the keys of a new wallet: 24 words of BIP-39 from 32 random bytes. @throws NOT_SUPPORTED for an unknown format */
export const makeWalletKeys = (
  coin: CoinRow,
  network: NetworkRow,
  io: Io,
  options: JsonObject
): WalletKeys => {
  const format = formatOption(coin, options)
  const entropy = io.random(32)
  if (format === 'bip32') {
    return { [coin.keyName]: io.crypto.toBase64(entropy), format, coinType: network.coinType }
  }
  return { [coin.keyName]: entropyToMnemonic(entropy, wordlist), format, coinType: network.coinType }
}

/**
 * Takes a person's own key: BIP-39 words (checked by their checksum), an account-level xprv, or, for old wallets,
 * a base64 seed.
 *
 * @throws KEY_INTEGRITY for text that is none of these; the message never quotes it
 */
export const importWalletKeys = (
  coin: CoinRow,
  network: NetworkRow,
  text: string,
  request: { readonly io: Io; readonly options: JsonObject }
): WalletKeys => {
  const format = formatOption(coin, request.options)
  const { coinType = network.coinType } = request.options
  if (typeof coinType !== 'number' || !Number.isInteger(coinType) || coinType < 0 || coinType >= 0x80000000) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'coinType must be a BIP-44 index' })
  }
  const trimmed = text.trim()
  if (isExtendedPrivate(trimmed)) {
    accountFromText(network, format, trimmed)
    return { [coin.keyName]: trimmed, format, coinType }
  }
  const words = normalWords(text)
  if (validateMnemonic(words, wordlist)) return { [coin.keyName]: words, format, coinType }
  if (format === 'bip32' && isSeedText(trimmed, request.io))
    return { [coin.keyName]: trimmed, format, coinType }
  throw new WalletError('KEY_INTEGRITY', {
    rule: 'the text is no valid BIP-39 phrase or extended private key'
  })
}

const formatOption = (coin: CoinRow, options: JsonObject): KeyFormat => {
  const format = options.format ?? coin.newFormat
  if (isKeyFormat(format) && coin.formats.includes(format)) return format
  throw new WalletError('NOT_SUPPORTED', { what: `this key format of ${coin.displayName}` })
}

const isSeedText = (text: string, io: Io): boolean => {
  try {
    const { length } = io.crypto.fromBase64(text)
    return length >= 16 && length <= 64
  } catch {
    return false
  }
}

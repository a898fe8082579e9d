import type { Schema } from 'yup'
import type { Denomination } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { copyData } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import type { Token } from '../types/currency.ts'
import type { TokenId } from '../types/ids.ts'
import { leaf, objectOf, optional, optionalFinite, parse } from './shape.ts'

const MAX_NAME = 200
const MAX_LOCATION = 10_000
const MAX_DENOMINATIONS = 20
const MULTIPLIER = /^[1-9]\d{0,99}$/

/**
 * Checks a token of a plugin or a user, and copies what a token has (specification §3 "Token").
 *
 * A token without denominations is counted in native units. By hand: a chain may bring thousands.
 *
 * @param source - what the value is, for the message
 * @throws BAD_REPLY naming the field
 */
export const parseToken = (value: unknown, source = 'token'): Token => {
  const token = readToken(value, source, list =>
    list.map((item, index) => parseDenomination(item, source, index))
  )
  if (token.currencyCode === '') throw bad(source, 'currencyCode', 'is no short text')
  return token
}

/**
 * Reads a token that any client has saved. The deployed core saves whatever it is given, so a denomination that
 * makes no sense is left out, and its token stays.
 *
 * @throws BAD_REPLY naming the field that no token can do without
 */
export const parseSavedToken = (value: unknown): Token => {
  const source = 'custom token'
  return readToken(value, source, list =>
    list.flatMap((item, index) => {
      try {
        return parseDenomination(item, source, index)
      } catch {
        return []
      }
    })
  )
}

const readToken = (
  value: unknown,
  source: string,
  readDenominations: (list: readonly unknown[]) => readonly Denomination[]
): Token => {
  if (!isRecord(value)) throw bad(source, '', 'is no object')
  const { currencyCode, displayName, denominations, networkLocation } = value
  if (!isShort(currencyCode)) throw bad(source, 'currencyCode', 'is no short text')
  if (!isShort(displayName)) throw bad(source, 'displayName', 'is no short text')
  if (!Array.isArray(denominations)) throw bad(source, 'denominations', 'is no list')
  if (denominations.length > MAX_DENOMINATIONS) throw bad(source, 'denominations', 'is too long')
  const location = networkLocation ?? undefined
  return Object.freeze({
    currencyCode,
    displayName,
    denominations: Object.freeze(readDenominations(denominations)),
    ...compact({ networkLocation: location === undefined ? undefined : parseLocation(location, source) })
  })
}

/**
 * Checks the id of a token: text that may be the name of a field.
 *
 * @throws BAD_REPLY
 */
export const parseTokenId = (value: unknown, source = 'token id'): string => {
  if (!isName(value)) throw bad(source, '', 'is no short text')
  if (value in Object.prototype || value === 'prototype') throw bad(source, '', 'is a forbidden word')
  return value
}

/**
 * The id that a contract address gives a token: lower-case, without a leading 0x (protocol §3.4).
 *
 * @returns undefined if the token has no such address
 */
export const contractTokenId = ({ networkLocation }: Pick<Token, 'networkLocation'>): string | undefined => {
  const address = networkLocation?.contractAddress
  return typeof address === 'string' && address !== '' ? addressId(address) : undefined
}

/** A custom token of the deployed app's old settings, with the wallet type that it belongs to. */
export interface LegacyToken {
  readonly walletType: string
  readonly tokenId: TokenId
  readonly token: Token
}

/**
 * Checks a custom token in the form of old settings (specification §3 "Legacy custom token").
 *
 * @returns undefined for one that the user has hidden
 * @throws BAD_REPLY naming the field
 */
export const parseLegacyToken = (value: unknown): LegacyToken | undefined => {
  const source = 'legacy custom token'
  if (!isRecord(value)) throw bad(source, '', 'is no object')
  const { contractAddress, currencyCode, currencyName, isVisible, multiplier, walletType } = value
  if (isVisible === false) return undefined
  if (!isName(contractAddress)) throw bad(source, 'contractAddress', 'is no short text')
  const { denominations } = value
  const isListed = Array.isArray(denominations) && denominations.length > 0
  const token = {
    currencyCode,
    displayName: currencyName,
    denominations: isListed ? denominations : [{ name: currencyCode, multiplier }],
    networkLocation: { contractAddress }
  }
  return {
    walletType: typeof walletType === 'string' ? walletType : LEGACY_WALLET_TYPE,
    tokenId: parseTokenId(addressId(contractAddress), source),
    token: parseToken(token, source)
  }
}

const LEGACY_WALLET_TYPE = 'wallet:ethereum'

const addressId = (address: string): string => address.toLowerCase().replace(/^0x/, '')

const parseDenomination = (value: unknown, source: string, index: number): Denomination => {
  const path = `denominations[${index}]`
  if (!isRecord(value)) throw bad(source, path, 'is no object')
  const { name, multiplier, symbol } = value
  if (!isName(name)) throw bad(source, `${path}.name`, 'is no short text')
  if (typeof multiplier !== 'string' || !MULTIPLIER.test(multiplier))
    throw bad(source, `${path}.multiplier`, 'is no whole number as text')
  if (symbol === undefined || symbol === null) return Object.freeze({ name, multiplier })
  if (typeof symbol !== 'string' || symbol.length > MAX_NAME)
    throw bad(source, `${path}.symbol`, 'is no short text')
  return Object.freeze({ name, multiplier, symbol })
}

const parseLocation = (value: unknown, source: string): JsonObject => {
  const refuse = (rule: string): WalletError => bad(source, 'networkLocation', rule)
  if (!isRecord(value)) throw refuse('is no JSON object')
  return copyData(value, { maxLength: MAX_LOCATION, isFrozen: true, refuse }) as JsonObject
}

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_NAME

const isName = (value: unknown): value is string => isShort(value) && value !== ''

const bad = (source: string, path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source, path, rule })

/** A wallet of the first clients, as a file of the account's repo holds it (protocol §3.4 `Wallets/`). */
export interface LegacyWalletFile {
  readonly SortIndex: number | undefined
  readonly Archived: boolean | undefined
  /** Base16, like the other two. */
  readonly BitcoinSeed: string
  /** The data key. */
  readonly MK: string
  readonly SyncKey: string
}

/** Checks a legacy wallet file. @throws BAD_REPLY */
export const parseLegacyWalletFile = (value: unknown): LegacyWalletFile =>
  parse(asLegacyWalletFile, value, 'legacy wallet file')

const isHex = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:[0-9a-fA-F]{2}){1,1000}$/.test(value)

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

const asLegacyWalletFile: Schema<LegacyWalletFile> = objectOf<LegacyWalletFile>({
  SortIndex: optionalFinite(),
  Archived: optional('true or false', isBoolean),
  BitcoinSeed: leaf('hex', isHex),
  MK: leaf('hex', isHex),
  SyncKey: leaf('hex', isHex)
})

import { createHash } from 'node:crypto'
import type { CurrencyInfo, JsonObject, Token } from '../../kernel/index.ts'

// Currencies without a chain that both cores have, so that stories can be told of tokens, splits and payments.
// `wallet:labcoin` is that of the users in test/vectors/world.json.

/** A currency of the lab; what is said of its keys holds for both cores. */
export interface LabCoin {
  readonly info: CurrencyInfo & { readonly requiredConfirmations: number }
  /** The tokens that its plugin brings. */
  readonly tokens: Readonly<Record<string, Token>>
  /** The wallet types that its keys can be split into. */
  readonly splitsInto: readonly string[]
}

/** The height of every chain of the lab. */
export const LAB_HEIGHT = 100

const infoOf = (pluginId: string, currencyCode: string): LabCoin['info'] => ({
  pluginId,
  displayName: `The ${pluginId}`,
  walletType: `wallet:${pluginId}`,
  currencyCode,
  denominations: [{ name: currencyCode, multiplier: '100' }],
  requiredConfirmations: 3,
  canImportKeys: true
})

const tokenOf = (currencyCode: string, contractAddress: string): Token => ({
  currencyCode,
  displayName: `Token ${currencyCode}`,
  denominations: [{ name: currencyCode, multiplier: '10' }],
  networkLocation: { contractAddress }
})

/** Bitcoin's family without Bitcoin itself, which has a chain here: what both cores do with its wallet types needs none. */
const FAMILY: readonly LabCoin[] = [
  ...['bitcointestnet', 'bitcoincash', 'bitcoincashtestnet', 'litecoin', 'dogecoin', 'dash'],
  ...['feathercoin', 'qtum', 'ufo', 'zcoin']
].map(pluginId => ({ info: infoOf(pluginId, pluginId.toUpperCase()), tokens: {}, splitsInto: [] }))

/** The currencies of the lab. */
export const LAB_COINS: readonly LabCoin[] = [
  ...FAMILY,
  {
    info: infoOf('labcoin', 'LAB'),
    tokens: { aa11: tokenOf('AAA', '0xAA11'), dd44: tokenOf('DDD', '0xDD44') },
    splitsInto: ['wallet:labcash']
  },
  { info: infoOf('labcash', 'LCH'), tokens: {}, splitsInto: ['wallet:labcoin'] }
]

/** The swap plugins of the lab. */
export const LAB_SWAPS: readonly string[] = ['labswap', 'labtrade']

/** Tokens that users of a story add; the id is the contract address. */
export const ADDED_TOKENS: { readonly bb22: Token; readonly cc33: Token } = {
  bb22: tokenOf('BBB', '0xBB22'),
  cc33: tokenOf('CCC', '0xCC33')
}

/** Whether a wallet is one of the lab. */
export const isLabType = (type: string): boolean => LAB_COINS.some(({ info }) => info.walletType === type)

/** New keys, from a text that the caller chose or by chance. */
export const labKeys = ({ info }: LabCoin, seed: unknown): { [name: string]: string } => ({
  [`${info.pluginId}Key`]: typeof seed === 'string' ? seed : crypto.randomUUID()
})

/** What an engine may see of keys. */
export const labPublicKeys = (coin: LabCoin, keys: JsonObject): { readonly publicKey: string } => ({
  publicKey: createHash('sha256').update(labSeed(coin, keys)).digest('hex').slice(0, 20)
})

/** What a person writes down of keys. */
export const labSeed = ({ info }: LabCoin, keys: JsonObject): string => String(keys[`${info.pluginId}Key`])

/** The id of a token that a user describes. */
export const labTokenId = ({ networkLocation }: Pick<Token, 'networkLocation'>): string =>
  String(networkLocation?.contractAddress).toLowerCase().replace(/^0x/, '')

/** What a payment is on the chain. */
export interface LabPayment {
  readonly txid: string
  readonly nativeAmount: string
  readonly networkFee: string
  readonly feeRateUsed: JsonObject
}

/** What either core makes of a request to pay. */
export const labPayment = (payTo: string, amount: string): LabPayment => ({
  txid: `paid ${payTo}`,
  nativeAmount: `-${amount}`,
  networkFee: '1',
  feeRateUsed: { centsPerByte: 3 }
})

import type { PluginId, TokenId } from '../../../kernel/plugin-api.ts'
/** The names of one coin at the sources that have their own; null where it has none. */
export interface CoinNames {
  readonly code: string
  readonly coingecko: string | null
  readonly coincap: string | null
  /** A currency plugin, and for a token the id that its contract address gives. */
  readonly edge: readonly [pluginId: PluginId, tokenId: TokenId | null] | null
}

type Names = readonly [
  coingecko: string | null,
  coincap: string | null,
  pluginId?: PluginId,
  tokenId?: TokenId
]

const NAMES: Readonly<Record<string, Names>> = {
  BTC: ['bitcoin', 'bitcoin', 'bitcoin'],
  ETH: ['ethereum', 'ethereum', 'ethereum'],
  BCH: ['bitcoin-cash', 'bitcoin-cash', 'bitcoincash'],
  LTC: ['litecoin', 'litecoin', 'litecoin'],
  DOGE: ['dogecoin', 'dogecoin', 'dogecoin'],
  DASH: ['dash', 'dash', 'dash'],
  QTUM: ['qtum', 'qtum', 'qtum'],
  FIRO: ['zcoin', 'zcoin', 'zcoin'],
  FTC: ['feathercoin', null, 'feathercoin'],
  UFO: [null, null, 'ufo'],
  USDT: ['tether', 'tether', 'ethereum', 'dac17f958d2ee523a2206206994597c13d831ec7'],
  USDC: ['usd-coin', 'usd-coin', 'ethereum', 'a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
  DAI: ['dai', 'multi-collateral-dai', 'ethereum', '6b175474e89094c44da98b954eedeac495271d0f'],
  WBTC: ['wrapped-bitcoin', 'wrapped-bitcoin', 'ethereum', '2260fac5e5542a773aa44fbcfedf7c193bc2c599'],
  BNB: ['binancecoin', 'binance-coin', 'binancesmartchain'],
  SOL: ['solana', 'solana', 'solana'],
  XRP: ['ripple', 'xrp', 'ripple'],
  ADA: ['cardano', 'cardano', 'cardano'],
  TRX: ['tron', 'tron', 'tron'],
  DOT: ['polkadot', 'polkadot', 'polkadot'],
  LINK: ['chainlink', 'chainlink', 'ethereum', '514910771af9ca656af840dff83e8264ecf986ca'],
  POL: ['polygon-ecosystem-token', null, 'polygon'],
  AVAX: ['avalanche-2', 'avalanche', 'avalanche'],
  ATOM: ['cosmos', 'cosmos', 'cosmoshub'],
  UNI: ['uniswap', 'uniswap', 'ethereum', '1f9840a85d5af5bf1d1762f925bdaddc4201f984'],
  AAVE: ['aave', 'aave', 'ethereum', '7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9'],
  MKR: ['maker', 'maker', 'ethereum', '9f8f72aa9304c8b593d555f12ef6589cc3a579a2'],
  XLM: ['stellar', 'stellar', 'stellar'],
  XMR: ['monero', 'monero', 'monero'],
  ETC: ['ethereum-classic', 'ethereum-classic', 'ethereumclassic'],
  ZEC: ['zcash', 'zcash', 'zcash'],
  XTZ: ['tezos', 'tezos', 'tezos'],
  ALGO: ['algorand', 'algorand', 'algorand'],
  FIL: ['filecoin', 'filecoin', 'filecoin'],
  RVN: ['ravencoin', 'ravencoin', 'ravencoin'],
  DGB: ['digibyte', 'digibyte', 'digibyte'],
  RUNE: ['thorchain', 'thorchain', 'thorchainrune'],
  CACAO: ['cacao', null],
  SHIB: ['shiba-inu', 'shiba-inu', 'ethereum', '95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce'],
  PEPE: ['pepe', null, 'ethereum', '6982508145454ce325ddbe47a25d4ec3d2311933'],
  BAT: [
    'basic-attention-token',
    'basic-attention-token',
    'ethereum',
    '0d8775f648430679a709e98d2b0cb6250d2887ef'
  ],
  COMP: ['compound-governance-token', 'compound', 'ethereum', 'c00e94cb662c3520282e6f5717214004a7f26888'],
  NEAR: ['near', 'near-protocol'],
  ARB: ['arbitrum', null],
  OP: ['optimism', null]
}

/** Every coin that a source can be asked for by a name of its own. A new coin is one row here. */
export const COINS: readonly CoinNames[] = Object.entries(NAMES).map(
  ([code, [coingecko, coincap, pluginId, tokenId]]) => ({
    code,
    coingecko,
    coincap,
    edge: pluginId === undefined ? null : [pluginId, tokenId ?? null]
  })
)

/** Codes of wanted coins by the name that one source has for them. */
export const namesOf = (
  coins: ReadonlySet<string>,
  nameOf: (row: CoinNames) => string | null
): ReadonlyMap<string, string> => {
  const codes = new Map<string, string>()
  for (const row of COINS) {
    const name = nameOf(row)
    if (name !== null && coins.has(row.code)) codes.set(name, row.code)
  }
  return codes
}

/**
 * The codes of fiat money, of today and of yesterday (ISO 4217): where a source mixes money and coins in one list, these
 * are never coins, not even of a coin that took such a name.
 */
export const FIAT_CODES: ReadonlySet<string> = new Set(
  `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BYR BZD CAD CDF CHF
  CLF CLP CNH CNY COP CRC CUC CUP CVE CZK DJF DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GGP GHS GIP GMD GNF GTQ
  GYD HKD HNL HRK HTG HUF IDR ILS IMP INR IQD IRR ISK JEP JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
  LRD LSL LTL LVL LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MTL MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB
  PEN PGK PHP PKR PLN PRB PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SKK SLE SLL SOS SRD SSP STD STN SVC SYP
  SZL THB TJS TMM TMT TND TOP TRY TTD TVD TWD TZS UAH UGX USD UYU UZS VEF VES VND VUV WST XAF XCD XCG XDR XOF XPF YER
  ZAR ZMK ZMW ZWD ZWG ZWL`.split(/\s+/)
)

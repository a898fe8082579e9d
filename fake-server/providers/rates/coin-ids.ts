/**
 * Codes of coins by the names that CoinGecko and CoinCap have for them.
 *
 * Written down a second time on purpose: the plugins have their own table, so a mistake in one is caught by the other.
 */
export const COINGECKO_IDS: ReadonlyMap<string, string> = new Map(
  `bitcoin BTC, ethereum ETH, bitcoin-cash BCH, litecoin LTC, dogecoin DOGE, dash DASH, qtum QTUM, zcoin FIRO,
  feathercoin FTC, tether USDT, usd-coin USDC, dai DAI, wrapped-bitcoin WBTC, binancecoin BNB, solana SOL, ripple XRP,
  cardano ADA, tron TRX, polkadot DOT, chainlink LINK, polygon-ecosystem-token POL, avalanche-2 AVAX, cosmos ATOM,
  uniswap UNI, aave AAVE, maker MKR, stellar XLM, monero XMR, ethereum-classic ETC, zcash ZEC, tezos XTZ,
  algorand ALGO, filecoin FIL, ravencoin RVN, digibyte DGB, thorchain RUNE, cacao CACAO, shiba-inu SHIB, pepe PEPE,
  basic-attention-token BAT, compound-governance-token COMP, near NEAR, arbitrum ARB, optimism OP`
    .split(/,\s+/)
    .map(row => row.split(' ') as [string, string])
)

/** As {@link COINGECKO_IDS}, of CoinCap. */
export const COINCAP_IDS: ReadonlyMap<string, string> = new Map(
  `bitcoin BTC, ethereum ETH, bitcoin-cash BCH, litecoin LTC, dogecoin DOGE, dash DASH, qtum QTUM, zcoin FIRO,
  tether USDT, usd-coin USDC, multi-collateral-dai DAI, wrapped-bitcoin WBTC, binance-coin BNB, solana SOL, xrp XRP,
  cardano ADA, tron TRX, polkadot DOT, chainlink LINK, avalanche AVAX, cosmos ATOM, uniswap UNI, aave AAVE, maker MKR,
  stellar XLM, monero XMR, ethereum-classic ETC, zcash ZEC, tezos XTZ, algorand ALGO, filecoin FIL, ravencoin RVN,
  digibyte DGB, thorchain RUNE, shiba-inu SHIB, basic-attention-token BAT, compound COMP, near-protocol NEAR`
    .split(/,\s+/)
    .map(row => row.split(' ') as [string, string])
)

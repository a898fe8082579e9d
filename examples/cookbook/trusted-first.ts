import type { JsonObject, PolicyPlugin, QuoteSnapshot } from 'holdfast/plugin'

const DEFAULTS = { trusted: ['thorchain', 'mayaprotocol'], tolerance: 0.01 }

/** Reads `trusted`, a list of ids of exchanges, and `tolerance`, the share of the payout that trust may cost. */
const readOptions = ({ trusted = DEFAULTS.trusted, tolerance = DEFAULTS.tolerance }: JsonObject) => {
  if (!Array.isArray(trusted) || !trusted.every(id => typeof id === 'string'))
    throw new TypeError('trusted must be a list of ids of exchanges')
  if (typeof tolerance !== 'number' || !(tolerance >= 0 && tolerance < 1))
    throw new TypeError('tolerance must be a number from 0 to below 1')
  return { trusted: new Set(trusted), tolerance }
}

/** What arrives for one unit that is paid; 0 for a provider that has made no offer. */
const rateOf = ({ fromNativeAmount, toNativeAmount }: QuoteSnapshot): number =>
  fromNativeAmount === undefined || toNativeAmount === undefined
    ? 0
    : Number(toNativeAmount) / Number(fromNativeAmount)

/**
 * A policy that puts exchanges which you trust before others, for example those that ask for no papers, as long as they pay
 * nearly as much as the best one. Among themselves the quotes keep the order of the kernel.
 */
const trustedFirst: PolicyPlugin = {
  kind: 'policy',
  id: 'trusted-first',
  apply({ hooks, options }) {
    const { trusted, tolerance } = readOptions(options)
    hooks.rankQuotes.tap('trusted-first', quotes => {
      const best = Math.max(0, ...quotes.map(rateOf))
      const isFirst = (quote: QuoteSnapshot): boolean =>
        trusted.has(quote.pluginId) && rateOf(quote) > 0 && rateOf(quote) >= best * (1 - tolerance)
      return [...quotes.filter(isFirst), ...quotes.filter(quote => !isFirst(quote))]
    })
  }
}

export default trustedFirst

import type { CurrencyPlugin, Denomination, TokenMap } from 'holdfast/plugin'

/** What is different from the currency itself. */
export interface OwnUnits {
  /** Put before its units, new ones and its own; amounts are shown and typed in the first, such as `{ name: 'bits', multiplier: '100' }`. */
  readonly units?: readonly Denomination[]
  /** Tokens that every wallet of the currency knows, by token id, besides its own. */
  readonly tokens?: TokenMap
}

/**
 * A currency plugin with other units, and with a list of tokens of one's own, in place of the one that it is made from. Keys,
 * addresses, files and payments stay the same, since they know native units alone.
 *
 * @throws TypeError for a unit by whose name the currency means another amount
 */
export const withOwnUnits = (currency: CurrencyPlugin, { units = [], tokens }: OwnUnits): CurrencyPlugin => {
  for (const { name, multiplier } of currency.info.denominations)
    if (units.some(unit => unit.name === name && unit.multiplier !== multiplier))
      throw new TypeError(`${name} of ${currency.id} is ${multiplier} native units`)
  const others = currency.info.denominations.filter(({ name }) => units.every(unit => unit.name !== name))
  return {
    ...currency,
    info: { ...currency.info, denominations: [...units, ...others] },
    apply(host) {
      const { hooks } = host
      let own: (() => Promise<TokenMap>) | undefined
      const builtinTokens: typeof hooks.builtinTokens = {
        tapPromise(_name, fn) {
          own = fn
        }
      }
      currency.apply({ ...host, hooks: { ...hooks, builtinTokens } })
      if (own !== undefined || tokens !== undefined)
        hooks.builtinTokens.tapPromise(currency.id, async () => ({ ...(await own?.()), ...tokens }))
    }
  }
}

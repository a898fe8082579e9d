import { typedPair } from '../../kernel/index.ts'
import type { ActorPlace, ActsOf } from './actor-place.ts'

/** Exchange rates and the routes through them. */
export const rateActs = ({ context, isReadOnly = false }: ActorPlace): ActsOf<'rates'> => ({
  async 'rates.route'({ from, to, biases, alternatives }) {
    const { fromCurrency, toCurrency } = typedPair(context.rates.pairs(), from, to)
    const found = context.rates.findRoute(fromCurrency, toCurrency, {
      isLookOnly: isReadOnly,
      ...(biases === undefined ? {} : { biases }),
      ...(alternatives === undefined ? {} : { alternatives })
    })
    if (found === undefined) return { route: null, alternatives: [] }
    const { alternatives: others, ...route } = found
    return { route, alternatives: others }
  },
  async 'rates.refresh'() {
    await context.rates.refresh()
    return {}
  }
})

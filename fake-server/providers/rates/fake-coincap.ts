import type { Clock } from '../../../kernel/io/io.ts'
import { jsonReply } from '../../replies.ts'
import type { FakeMarket } from '../fake-market.ts'
import type { FakeProvider } from '../fake-provider.ts'
import { COINCAP_IDS } from './coin-ids.ts'

/** `GET /v3/assets?ids=bitcoin` with `authorization: Bearer …`; any key is let in, none is not. */
export const fakeCoincap = (market: FakeMarket, clock: Pick<Clock, 'now'>): FakeProvider => ({
  id: 'coincap',
  hosts: ['rest.coincap.io'],
  answer({ method, pathname, query, headers }) {
    const timestamp = clock.now()
    if (!/^Bearer [\x21-\x7e]+$/.test(headers.authorization ?? '')) {
      return jsonReply(401, { error: 'Unauthorized', message: 'API key required', timestamp })
    }
    if (method !== 'GET' || pathname !== '/v3/assets')
      return jsonReply(404, { error: 'Not found', timestamp })
    const ids = query.get('ids')?.split(',') ?? [...COINCAP_IDS.keys()]
    const data = ids.flatMap((id, index) => {
      const symbol = COINCAP_IDS.get(id)
      const priceUsd = symbol === undefined ? undefined : market.rateOf(symbol, 'iso:USD')
      return priceUsd === undefined
        ? []
        : [
            {
              id,
              rank: String(index + 1),
              symbol,
              name: id,
              supply: '1000000.0000000000',
              maxSupply: null,
              priceUsd
            }
          ]
    })
    return jsonReply(200, { timestamp, data })
  }
})

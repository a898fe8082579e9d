import type { Clock } from '../../../kernel/io/io.ts'
import { emptyReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import { conditional, type FakeProvider } from '../market/provider.ts'

/** `GET /stats/eurofxref/eurofxref-daily.xml`: what a euro costs in thirty moneys, of the day that it is in the world. */
export const fakeEcb = (market: FakeMarket, clock: Pick<Clock, 'now'>): FakeProvider => ({
  id: 'ecb',
  hosts: ['www.ecb.europa.eu'],
  answer(request) {
    if (request.method !== 'GET' || request.pathname !== '/stats/eurofxref/eurofxref-daily.xml')
      return emptyReply(404)
    const day = new Date(clock.now()).toISOString().slice(0, 10)
    const cubes = MONEYS.map(money => {
      const rate = market.rateOf('iso:EUR', `iso:${money}`, 6)
      return rate === undefined ? '' : `\t\t\t<Cube currency='${money}' rate='${rate}'/>\n`
    })
    const body = `${HEAD}\t\t<Cube time='${day}'>\n${cubes.join('')}\t\t</Cube>\n\t</Cube>\n</gesmes:Envelope>`
    return conditional(request, { status: 200, headers: { 'content-type': 'text/xml' }, body })
  }
})

const MONEYS =
  `USD JPY CZK DKK GBP HUF PLN RON SEK CHF ISK NOK TRY AUD BRL CAD CNY HKD IDR ILS INR KRW MXN MYR NZD PHP SGD THB ZAR`.split(
    ' '
  )

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
`

import { isWalletError } from '../kernel/plugin-api.ts'
import { FIAT_CODES } from '../plugins/rates/kit/coins.ts'
import { networkChecks } from './network-checks.ts'
import type { PluginLab } from './plugin-lab.ts'
import { pairsOf, queryHistory, queryRound, type RateRound, type RateSubject } from './rate-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'

const DOCS = 'docs/write-a-plugin.md#rates'

/** Money of states whose codes no coin has. */
const NO_COINS: readonly string[] = ['USD', 'EUR', 'GBP', 'JPY']

/** Every check of a source of rates, but for its cases. */
export const rateChecks: readonly Check<RateSubject>[] = [
  {
    id: 'rates.accepted',
    level: 'quick',
    reason: 'The kernel refuses an offer whose codes are no text or whose rate is not finite and above zero.',
    clause: '5.38',
    hint: 'Offer { fromCurrency, toCurrency } as texts and the rate as a number; leave out what has no price.',
    async run(subject) {
      const { refusal } = await soundRound(subject.open(), subject)
      must(refusal === undefined, () => `The kernel refuses an offer of it: ${refusal}`)
    }
  },
  {
    id: 'rates.fiat-prefix',
    level: 'quick',
    reason: 'Fiat codes carry the prefix iso:, since a coin may have the same code.',
    clause: '3.29',
    hint: 'Write iso:USD for the dollar.',
    async run(subject) {
      const { offers } = await soundRound(subject.open(), subject)
      const wanted = subject.sample.wanted.join(' ').split(' ')
      const bare = offers
        .flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency])
        .find(code => FIAT_CODES.has(code) && wanted.includes(`iso:${code}`))
      must(bare === undefined, () => `It offers a price of ${bare}, where iso:${bare} was wanted`)
    }
  },
  {
    id: 'rates.coin-codes',
    level: 'quick',
    reason: 'A code without iso: is a coin, even if some money has the same code: a list may have both.',
    clause: '3.29',
    hint: 'Name the coins that the source has; all other codes of its list get iso:.',
    async run({ open, sample }) {
      const coins = pairsOf(sample.wanted).map(({ fromCurrency }) => fromCurrency)
      const pairs = coins.flatMap(coin => NO_COINS.map(code => `${coin} ${code}`))
      // It need not know these pairs.
      const { offers } = await queryRound(open(), pairsOf([...sample.wanted, ...pairs]))
      const taken = offers
        .flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency])
        .find(code => NO_COINS.includes(code))
      must(taken === undefined, () => `Where a coin ${taken} is wanted, it offers the price of iso:${taken}`)
    }
  },
  {
    id: 'rates.unknown',
    level: 'quick',
    reason: 'Every source is asked for all pairs that an application wants, known to it or not.',
    clause: DOCS,
    hint: 'Skip pairs that the source does not know, and look codes up in a Map, not in an object.',
    async run({ open }) {
      const lab = open()
      for (const codes of [['ZZZQ', 'iso:ZZQ'], ODD_CODES]) {
        const wanted = codes.map(code => ({ fromCurrency: code, toCurrency: 'iso:ZZQ' }))
        const { error, isLate } = await queryRound(lab, wanted)
        // A request for an unknown code may be answered with a refusal: nothing is recorded for it.
        const isRefused = isWalletError(error) && lab.network.unrecorded.length > 0
        must(error === undefined || isRefused, () => `Wanted ${codes.join(', ')}: ${describeError(error)}`)
        must(!isLate, () => `Wanted ${codes.join(', ')}: it has not ended after 30 seconds`)
      }
    }
  },
  {
    id: 'rates.many',
    level: 'full',
    reason: 'A round may want three coins in some 160 currencies, and ends after five seconds.',
    clause: '9.21',
    hint: 'Request many prices at once, and each pair once.',
    async run({ open, sample }) {
      const lab = open()
      const coins = new Set(['BTC', 'BCH', 'ETH', ...pairsOf(sample.wanted).map(pair => pair.fromCurrency)])
      const pairs = [...coins].flatMap(coin => [...FIAT_CODES].map(code => `${coin} iso:${code}`))
      const wanted = pairsOf([...sample.wanted, ...pairs, ...pairs])
      const { error, isLate } = await queryRound(lab, wanted)
      const { length } = lab.network.requests
      must(length <= MANY_REQUESTS, () => `It sends ${length} requests for one round`)
      must(!isLate, () => 'It has not ended after 30 seconds')
      const isCatalogued = error === undefined || isWalletError(error)
      must(isCatalogued, () => `For many pairs it throws ${describeError(error)}`)
    }
  },
  {
    id: 'rates.again',
    level: 'quick',
    reason: 'A source is asked again every 30 seconds for as long as rates are wanted.',
    clause: '9.19',
    hint: 'Keep no state that a round uses up; a reply that is still new needs no new offer.',
    async run(subject) {
      const lab = subject.open()
      await soundRound(lab, subject)
      for (let round = 2; round <= 4; round += 1) {
        await lab.clock.advance(30_000)
        const { error, isLate } = await queryRound(lab, pairsOf(subject.sample.wanted))
        must(error === undefined, () => `Round ${round} throws ${describeError(error)}`)
        must(!isLate, () => `Round ${round} has not ended after 30 seconds`)
      }
      await lab.clock.advance(DAY_MS)
      const { offers } = await soundRound(lab, subject)
      must(offers.length > 0, () => 'A day later it offers nothing')
    }
  },
  {
    id: 'rates.history',
    level: 'full',
    reason: 'A price of the past is shown with its own date.',
    clause: '3.28',
    hint: 'Offer the pair with the date of the price: one that exists, and none after now.',
    async run({ open, dated }) {
      if (dated === undefined) return skip('No valid case has a date')
      const lab = open({ replies: dated.replies ?? {} })
      const pairs = pairsOf(dated.wanted)
      const days = [dated.date ?? new Date(0), new Date(Number.NaN)]
      const wanted = days.flatMap(date => pairs.map(pair => ({ ...pair, date })))
      const { offers, error, isLate } = await queryHistory(lab, wanted)
      must(error === undefined, () => `It throws ${describeError(error)}`)
      must(!isLate, () => 'It has not ended after 30 seconds')
      const now = lab.clock.now()
      const odd = offers.find(({ date, rate }) => !(date?.getTime() <= now) || !isSane(rate))
      must(odd === undefined, () => `It offers ${odd?.rate} of ${describeDate(odd?.date)}`)
    }
  },
  ...networkChecks({
    prefix: 'rates',
    docs: DOCS,
    failureClause: '8.52',
    figureClause: '5.38',
    seconds: 30
  })
]

const DAY_MS = 86_400_000
const MANY_REQUESTS = 50
const ODD_CODES = ['__proto__', 'constructor', 'a,b&c=d', '"]', 'x'.repeat(64), '../..', '%00']

const isSane = (rate: number): boolean => Number.isFinite(rate) && rate > 0

const describeDate = (date: Date | undefined): string =>
  date === undefined || Number.isNaN(date.getTime()) ? 'no day' : date.toISOString()

/** Runs a round on the first valid case, which works. */
const soundRound = async (lab: PluginLab, { sample }: RateSubject): Promise<RateRound> => {
  const round = await queryRound(lab, pairsOf(sample.wanted))
  must(!round.isLate, () => 'A round without a fault has not ended after 30 seconds')
  must(round.error === undefined, () => `A round without a fault throws ${describeError(round.error)}`)
  return round
}

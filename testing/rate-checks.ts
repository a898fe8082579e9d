import {
  answerInstead,
  cutReplies,
  htmlPage,
  makeRandom,
  refusalReply,
  spoilFigures,
  swellReplies
} from '../fake-server/base/faults.ts'
import type { FakeReply, Middleware } from '../fake-server/base/replies.ts'
import { isWalletError } from '../kernel/plugin-api.ts'
import { FIAT_CODES } from '../plugins/rates/kit/coins.ts'
import type { PluginLab } from './plugin-lab.ts'
import {
  type AbortHandle,
  pairsOf,
  queryHistory,
  queryRound,
  type RateRound,
  type RateSubject
} from './rate-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'

const DOCS = 'docs/write-a-plugin.md#rates'

/** The checks of what a source offers. */
const offerChecks: readonly Check<RateSubject>[] = [
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
      mustBeCatalogued(error, 'for many pairs')
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
  }
]

/** The checks of faults of the server and of the network. */
const faultChecks: readonly Check<RateSubject>[] = [
  {
    id: 'rates.refused',
    level: 'quick',
    reason: 'A refusal is no price, and ends one round only.',
    clause: '8.52',
    hint: 'Read a body only after its status is 200, and throw SERVER for any other.',
    async run(subject) {
      for (const status of [400, 403, 404, 451, 500, 503]) {
        const lab = networked(subject)
        const sound = await soundReply(subject)
        const stop = lab.network.use(async () => ({ ...sound, status }))
        const round = await queryRound(lab, pairsOf(subject.sample.wanted))
        mustBringNothing(round, `after status ${status}`)
        must(round.error !== undefined, () => `It throws nothing after status ${status}`)
        stop()
        await lab.clock.advance(HOUR_MS)
        await soundRound(lab, subject)
      }
    }
  },
  {
    id: 'rates.offline',
    level: 'quick',
    reason: 'Without a network the round of a source fails with an error of the catalogue.',
    clause: '8.10',
    hint: 'Let HttpClient send the requests, or turn what io.fetch throws into SERVER.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.isOnline = false
      const round = await queryRound(lab, pairsOf(subject.sample.wanted))
      mustBringNothing(round, 'without a network')
      must(round.error !== undefined, () => 'It throws nothing without a network')
      lab.network.isOnline = true
      await lab.clock.advance(30_000)
      await soundRound(lab, subject)
    }
  },
  {
    id: 'rates.garbage',
    level: 'quick',
    reason: 'Proxies answer with pages, and servers change their replies.',
    clause: '8.12',
    hint: 'Read replies with Reply, which throws BAD_REPLY and names the wrong field.',
    async run(subject) {
      const replies = GARBAGE.map(body => ({ status: 200, headers: {}, body }))
      for (const reply of [htmlPage(), ...replies]) {
        const lab = networked(subject)
        lab.network.use(answerInstead(portOf(lab), reply))
        const round = await queryRound(lab, pairsOf(subject.sample.wanted))
        mustBringNothing(round, `after the reply ${JSON.stringify(reply.body.slice(0, 40))}`)
      }
    }
  },
  {
    id: 'rates.cut',
    level: 'full',
    reason: 'Half a reply may end in half a figure.',
    clause: '8.12',
    hint: 'Parse the reply as a whole before you offer anything of it.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.use(cutReplies)
      const round = await queryRound(lab, pairsOf(subject.sample.wanted))
      mustBringNothing(round, 'after half a reply')
      must(round.error !== undefined, () => 'It throws nothing after half a reply')
    }
  },
  {
    id: 'rates.figures',
    level: 'quick',
    reason: 'A server that writes a price below zero, zero, NaN or endless has none.',
    clause: '5.38',
    hint: 'Offer the figure as it stands; do not take its absolute value, and do not replace it.',
    async run(subject) {
      for (const figure of ['-1', '0', 'NaN', '1e999', 'null', '0x10']) {
        const lab = networked(subject)
        lab.network.use(spoilFigures(figure))
        const round = await queryRound(lab, pairsOf(subject.sample.wanted))
        mustBringNothing(round, `after a reply whose figures are all ${figure}`)
      }
    }
  },
  {
    id: 'rates.random-faults',
    level: 'full',
    reason: 'A reply that is damaged anywhere is read or refused, and gives no odd rate.',
    clause: '5.38',
    hint: 'The message names the seed, which repeats the run: pass it as `seed`.',
    async run(subject) {
      const sound = await soundReply(subject)
      const random = makeRandom(subject.seed)
      const lab = networked(subject)
      let body = ''
      const damage: Middleware = async () => ({ ...sound, body })
      lab.network.use(damage)
      for (let count = 0; count < DAMAGED_COUNT; count += 1) {
        body = damaged(sound.body, random)
        const round = await queryRound(lab, pairsOf(subject.sample.wanted))
        const where = `after damaged reply ${count + 1} of seed ${subject.seed}`
        mustBeCatalogued(round.error, where)
        must(!round.isLate, () => `It has not ended after 30 seconds, ${where}`)
        const odd = round.offers.find(({ rate }) => !isSane(rate))
        must(odd === undefined, () => `It offers ${odd?.rate} ${where}`)
        await lab.clock.advance(30_000)
      }
    }
  },
  {
    id: 'rates.large',
    level: 'full',
    reason: 'A reply without end would fill the memory of a phone.',
    clause: DOCS,
    hint: 'Pass maxReplyBytes to io.fetch or HttpClient: the largest reply that you expect, and some room.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.use(swellReplies(LARGE_BYTES))
      const round = await queryRound(lab, pairsOf(subject.sample.wanted))
      mustBringNothing(round, `after a reply of ${LARGE_BYTES} bytes`)
      must(round.error !== undefined, () => `It reads a reply of ${LARGE_BYTES} bytes`)
    }
  }
]

/** The checks of time. */
const timeChecks: readonly Check<RateSubject>[] = [
  {
    id: 'rates.silence',
    level: 'full',
    reason: 'A source that waits for a silent server is left out of the rounds that follow.',
    clause: '9.1',
    hint: 'Give every request a deadline below 30 seconds, and abort it then: HttpClient has deadlineMs.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.use(() => new Promise(() => {}))
      const round = await queryRound(lab, pairsOf(subject.sample.wanted))
      must(!round.isLate, () => 'It still waits for a silent server after 30 seconds')
      mustBringNothing(round, 'after a silent server')
      must(round.error !== undefined, () => 'It throws nothing after a silent server')
      const [open] = lab.network.requests.filter(({ signal }) => signal?.aborted !== true)
      must(open === undefined, () => 'It has not aborted the request that it gave up')
    }
  },
  {
    id: 'rates.abort',
    level: 'full',
    reason: 'Once nobody wants rates any more, the requests for them end.',
    clause: DOCS,
    hint: 'Pass context.signal to io.fetch or HttpClient.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.use(() => new Promise(() => {}))
      const handle: AbortHandle = {}
      const work = queryRound(lab, pairsOf(subject.sample.wanted), handle)
      for (let i = 0; i < 20 && lab.network.requests.length === 0; i += 1) await lab.clock.advance(0)
      handle.abort?.()
      await lab.clock.advance(0)
      const [open] = lab.network.requests.filter(({ signal }) => signal?.aborted !== true)
      must(open === undefined, () => 'Its request goes on after the signal of the round was aborted')
      mustBringNothing(await work, 'after the round was aborted')
    }
  },
  {
    id: 'rates.too-many',
    level: 'full',
    reason: 'A server that limits requests bars a client which ignores that.',
    clause: DOCS,
    hint: 'HttpClient with rateLimit backs off for as long as the header retry-after says.',
    async run(subject) {
      const lab = networked(subject)
      const reply = refusalReply(429, { retryAfter: '120' })
      const stop = lab.network.use(answerInstead(portOf(lab), reply))
      const refused = await queryRound(lab, pairsOf(subject.sample.wanted))
      mustBringNothing(refused, 'after status 429')
      must(refused.error !== undefined, () => 'It throws nothing after status 429')
      stop()
      const { length } = lab.network.requests
      await lab.clock.advance(60_000)
      mustBeCatalogued((await queryRound(lab, pairsOf(subject.sample.wanted))).error, 'while it backs off')
      const isQuiet = lab.network.requests.length === length
      must(isQuiet, () => 'It sends a request a minute after status 429 with retry-after: 120')
      await lab.clock.advance(HOUR_MS)
      await soundRound(lab, subject)
    }
  },
  {
    id: 'rates.live',
    level: 'live',
    reason: 'A recorded reply says nothing of the server of today.',
    clause: '7.34',
    hint: 'Record the reply of today, and compare it with the case.',
    async run({ open, sample }) {
      const lab = open({ isLive: true })
      const { offers, error } = await queryRound(lab, pairsOf(sample.wanted), { isLive: true })
      must(error === undefined, () => `It throws ${describeError(error)}`)
      const found = offers.some(offer =>
        Object.hasOwn(sample.offers, `${offer.fromCurrency} ${offer.toCurrency}`)
      )
      must(found, () => `The real server gives no price of ${Object.keys(sample.offers).join(', ')}`)
    }
  }
]

/** Every check of a source of rates, but for its cases. */
export const rateChecks: readonly Check<RateSubject>[] = [...offerChecks, ...faultChecks, ...timeChecks]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MANY_REQUESTS = 50
const DAMAGED_COUNT = 100
const LARGE_BYTES = 12_000_000

const ODD_CODES = ['__proto__', 'constructor', 'a,b&c=d', '"]', 'x'.repeat(64), '../..', '%00']

const GARBAGE = [
  ...['', ' ', 'null', '7', '"x"', '[]', '{}', '[null]', '[[]]', '{"data":null}', '{"data":{"rates":[]}}'],
  ...['{"result":{},"error":["E"]}', '<a/>', '<a', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', '\u0000']
]

const PIECES = ['', 'null', '{}', '[]', '"x"', '-1', '1e999', '"__proto__":', '<', '&x;', ',', '}']

/** A reply with one piece replaced at random. */
const damaged = (body: string, random: () => number): string => {
  const start = Math.floor(random() * (body.length + 1))
  const length = Math.floor(random() * 40)
  const piece = PIECES[Math.floor(random() * PIECES.length)] ?? ''
  return body.slice(0, start) + piece + body.slice(start + length)
}

const portOf = ({ clock }: PluginLab) => ({ clock, random: () => 0 })

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

/** A lab of a source that sends requests; skips the check for another. */
const networked = ({ open, sample }: RateSubject): PluginLab => {
  if (sample.replies === undefined) skip('Its cases have no replies: it sends no request')
  return open()
}

/** The reply to the first request of a round. */
const soundReply = async (subject: RateSubject): Promise<FakeReply> => {
  const lab = networked(subject)
  let first: FakeReply | undefined
  lab.network.use(async (_request, next) => {
    const reply = await next()
    first ??= reply
    return reply
  })
  await soundRound(lab, subject)
  return first ?? skip('It sends no request for its first valid case')
}

const mustBeCatalogued = (error: unknown, when: string): void =>
  must(error === undefined || isWalletError(error), () => `${when}: it throws ${describeError(error)}`)

const mustBringNothing = ({ offers, error, isLate }: RateRound, when: string): void => {
  must(!isLate, () => `It has not ended after 30 seconds, ${when}`)
  mustBeCatalogued(error, when)
  const [offer] = offers
  must(
    offer === undefined,
    () => `It offers ${offer?.rate} for ${offer?.fromCurrency} ${offer?.toCurrency} ${when}`
  )
}

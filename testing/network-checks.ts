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
import type { PluginSubject } from './plugin-checks.ts'
import type { PluginLab } from './plugin-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'

/** How one call of a plugin that uses the network ended. */
export interface NetworkRound {
  /** Its first offer in words, if it made one. */
  readonly gave: string | undefined
  /** What is wrong with an offer by its figures alone, if something is. */
  readonly oddity: string | undefined
  readonly error: unknown
  readonly isLate: boolean
}

/** How a round is run; it receives the function that gives the round up. */
export interface RoundHandle {
  /** Uses the real time, and not the clock of the lab. */
  readonly isLive?: boolean
  abort?: () => void
}

/** A plugin that sends requests, for the checks. */
export interface NetworkSubject extends PluginSubject {
  /** False if its first valid case has no replies. */
  readonly sendsRequests: boolean
  /** Starts random input. */
  readonly seed: number
  /** Runs the first valid case. */
  round(lab: PluginLab, handle?: RoundHandle): Promise<NetworkRound>
}

/** What differs between the kinds. */
export interface NetworkKind {
  /** Begins the ids: `rates` or `swap`. */
  readonly prefix: string
  /** The heading of the guide. */
  readonly docs: string
  /** The sentence about failures of this kind. */
  readonly failureClause: string
  /** The sentence about figures of this kind. */
  readonly figureClause: string
  /** How long the kernel waits, in seconds. */
  readonly seconds: number
}

/** The checks of what a plugin does when its server or the network fails. */
export const networkChecks = (kind: NetworkKind): readonly Check<NetworkSubject>[] => [
  ...refusalChecks(kind),
  ...replyChecks(kind),
  ...timeChecks(kind)
]

const refusalChecks = ({ prefix, docs, failureClause }: NetworkKind): readonly Check<NetworkSubject>[] => [
  {
    id: `${prefix}.refused`,
    level: 'quick',
    reason: 'A refusal is no answer, and ends one call only.',
    clause: failureClause,
    hint: 'Read a body only after its status is 200, and throw an error of the catalogue for any other.',
    async run(subject) {
      const sound = await soundReply(subject)
      for (const status of [400, 403, 404, 451, 500, 503]) {
        const lab = networked(subject)
        const stop = lab.network.use(async () => ({ ...sound, status }))
        const round = await subject.round(lab)
        mustBringNothing(round, `after status ${status}`)
        must(round.error !== undefined, () => `It throws nothing after status ${status}`)
        stop()
        await lab.clock.advance(HOUR_MS)
        await soundRound(lab, subject)
      }
    }
  },
  {
    id: `${prefix}.offline`,
    level: 'quick',
    reason: 'Without a network a call fails with an error of the catalogue.',
    clause: '8.10',
    hint: 'Let HttpClient send the requests, or turn what io.fetch throws into SERVER.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.isOnline = false
      const round = await subject.round(lab)
      mustBringNothing(round, 'without a network')
      must(round.error !== undefined, () => 'It throws nothing without a network')
      lab.network.isOnline = true
      await lab.clock.advance(30_000)
      await soundRound(lab, subject)
    }
  },
  {
    id: `${prefix}.too-many`,
    level: 'full',
    reason: 'A server that limits requests bars a client which ignores that.',
    clause: docs,
    hint: 'HttpClient with rateLimit backs off for as long as the header retry-after says.',
    async run(subject) {
      const lab = networked(subject)
      const reply = refusalReply(429, { retryAfter: '120' })
      const stop = lab.network.use(answerInstead(portOf(lab), reply))
      const refused = await subject.round(lab)
      mustBringNothing(refused, 'after status 429')
      must(refused.error !== undefined, () => 'It throws nothing after status 429')
      stop()
      const { length } = lab.network.requests
      await lab.clock.advance(60_000)
      mustBeCatalogued((await subject.round(lab)).error, 'while it backs off')
      const isQuiet = lab.network.requests.length === length
      must(isQuiet, () => 'It sends a request a minute after status 429 with retry-after: 120')
      await lab.clock.advance(HOUR_MS)
      await soundRound(lab, subject)
    }
  }
]

const replyChecks = ({ prefix, docs, figureClause }: NetworkKind): readonly Check<NetworkSubject>[] => [
  {
    id: `${prefix}.garbage`,
    level: 'quick',
    reason: 'Proxies answer with pages, and servers change their replies.',
    clause: '8.12',
    hint: 'Read replies with Reply, which throws BAD_REPLY and names the wrong field.',
    async run(subject) {
      const replies = GARBAGE.map(body => ({ status: 200, headers: {}, body }))
      for (const reply of [htmlPage(), ...replies])
        await mustStandFault(subject, answerInstead({ clock: NO_CLOCK, random: () => 0 }, reply), () => {
          return `after the reply ${JSON.stringify(reply.body.slice(0, 40))}`
        })
    }
  },
  {
    id: `${prefix}.cut`,
    level: 'full',
    reason: 'Half a reply may end in half a figure.',
    clause: '8.12',
    hint: 'Parse the reply as a whole before you offer anything of it.',
    run: subject => mustStandFault(subject, cutReplies, () => 'after half a reply')
  },
  {
    id: `${prefix}.figures`,
    level: 'quick',
    reason: 'A server that writes a figure below zero, zero, NaN or endless has none.',
    clause: figureClause,
    hint: 'Use the figure as it stands; do not take its absolute value, and do not replace it.',
    async run(subject) {
      for (const figure of ['-1', '0', 'NaN', '1e999'])
        await mustStandFault(subject, spoilFigures(figure), () => {
          return `after a reply whose figures are all ${figure}`
        })
    }
  },
  {
    id: `${prefix}.random-faults`,
    level: 'full',
    reason: 'A reply that is damaged anywhere is read or refused, and gives nothing odd.',
    clause: figureClause,
    hint: 'The message names the seed, which repeats the run: pass it as `seed`.',
    async run(subject) {
      const random = makeRandom(subject.seed)
      const lab = networked(subject)
      await soundRound(lab, subject)
      const damage: Middleware = async (_request, next) => {
        const reply = await next()
        return { ...reply, body: damaged(reply.body, random) }
      }
      lab.network.use(damage)
      for (let count = 1; count <= DAMAGED_COUNT; count += 1) {
        const round = await subject.round(lab)
        const where = `after damaged reply ${count} of seed ${subject.seed}`
        mustBeCatalogued(round.error, where)
        must(!round.isLate, () => `It has not ended in time, ${where}`)
        must(round.oddity === undefined, () => `It offers ${round.oddity} ${where}`)
        await lab.clock.advance(30_000)
      }
    }
  },
  {
    id: `${prefix}.large`,
    level: 'full',
    reason: 'A reply without end would fill the memory of a phone.',
    clause: docs,
    hint: 'Pass maxReplyBytes to io.fetch or HttpClient: the largest reply that you expect, and some room.',
    async run(subject) {
      const lab = networked(subject)
      lab.network.use(swellReplies(LARGE_BYTES))
      const round = await subject.round(lab)
      mustBringNothing(round, `after a reply of ${LARGE_BYTES} bytes`)
      must(round.error !== undefined, () => `It reads a reply of ${LARGE_BYTES} bytes`)
    }
  }
]

const timeChecks = ({ prefix, docs, seconds }: NetworkKind): readonly Check<NetworkSubject>[] => [
  {
    id: `${prefix}.silence`,
    level: 'full',
    reason: 'A server that never answers must not keep a plugin waiting for ever.',
    clause: '9.1',
    hint: `Give every request a deadline below ${seconds} seconds, and abort it then: HttpClient has deadlineMs.`,
    async run(subject) {
      const lab = networked(subject)
      lab.network.use(() => new Promise(() => {}))
      const round = await subject.round(lab)
      must(!round.isLate, () => `It still waits for a silent server after ${seconds} seconds`)
      mustBringNothing(round, 'after a silent server')
      must(round.error !== undefined, () => 'It throws nothing after a silent server')
      const [open] = lab.network.requests.filter(({ signal }) => signal?.aborted !== true)
      must(open === undefined, () => 'It has not aborted the request that it gave up')
    }
  },
  {
    id: `${prefix}.abort`,
    level: 'full',
    reason: 'Once nobody waits for an answer any more, the requests for it end.',
    clause: docs,
    hint: 'Pass context.signal to io.fetch or HttpClient.',
    async run(subject) {
      // What several rounds share, such as a list of assets, may go on: so the second round counts, if it sends something.
      for (const isSecond of [true, false]) {
        const lab = networked(subject)
        if (isSecond) await soundRound(lab, subject)
        const { length } = lab.network.requests
        lab.network.use(() => new Promise(() => {}))
        const handle: RoundHandle = {}
        const work = subject.round(lab, handle)
        for (let i = 0; i < 20 && lab.network.requests.length === length; i += 1) await lab.clock.advance(0)
        handle.abort?.()
        await lab.clock.advance(0)
        const sent = lab.network.requests.slice(length)
        const [open] = sent.filter(({ signal }) => signal?.aborted !== true)
        // Before it ends by a deadline of its own.
        const isOpen = open !== undefined
        const round = await work
        if (isSecond && sent.length === 0) continue
        must(!isOpen, () => 'Its request goes on after the signal of the round was aborted')
        mustBringNothing(round, 'after the round was aborted')
        return
      }
    }
  },
  {
    id: `${prefix}.live`,
    level: 'live',
    reason: 'A recorded reply says nothing of the server of today.',
    clause: '7.34',
    hint: 'Record the reply of today, and compare it with the case.',
    async run(subject) {
      networked(subject)
      const { gave, error } = await subject.round(subject.open({ isLive: true }), { isLive: true })
      must(error === undefined, () => `It throws ${describeError(error)}`)
      must(gave !== undefined, () => 'With the real server it offers nothing')
    }
  }
]

const HOUR_MS = 3_600_000
const DAMAGED_COUNT = 100
const LARGE_BYTES = 12_000_000

// `answerInstead` waits for nothing.
const NO_CLOCK = { after: () => () => {} }

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

const portOf = ({ clock }: PluginLab): Parameters<typeof answerInstead>[0] => ({ clock, random: () => 0 })

/** Runs a round on the first valid case, which works. */
const soundRound = async (lab: PluginLab, subject: NetworkSubject): Promise<void> => {
  const { error, isLate } = await subject.round(lab)
  must(!isLate, () => 'Without a fault it has not ended in time')
  must(error === undefined, () => `Without a fault it throws ${describeError(error)}`)
}

/** A lab of a plugin that sends requests; skips the check for another. */
const networked = ({ open, sendsRequests }: NetworkSubject): PluginLab => {
  if (!sendsRequests) skip('Its first case has no replies: it sends no request')
  return open()
}

/** The reply to the first request of a round. */
const soundReply = async (subject: NetworkSubject): Promise<FakeReply> => {
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

/** A fault brings nothing and no foreign error: from the first call on, and after one that went well. */
const mustStandFault = async (
  subject: NetworkSubject,
  fault: Middleware,
  when: () => string
): Promise<void> => {
  const fresh = networked(subject)
  fresh.network.use(fault)
  mustBringNothing(await subject.round(fresh), when())
  const used = networked(subject)
  await soundRound(used, subject)
  // A reply that still holds may be used again.
  let isSame = false
  used.network.use(async (_request, next) => {
    const reply = await next()
    isSame ||= reply.status === 304
    return reply
  })
  used.network.use(fault)
  const round = await subject.round(used)
  if (!isSame) mustBringNothing(round, `${when()}, in a second call`)
}

const mustBeCatalogued = (error: unknown, when: string): void =>
  must(error === undefined || isWalletError(error), () => `It throws ${describeError(error)} ${when}`)

const mustBringNothing = ({ gave, error, isLate }: NetworkRound, when: string): void => {
  must(!isLate, () => `It has not ended in time, ${when}`)
  mustBeCatalogued(error, when)
  must(gave === undefined, () => `It offers ${gave} ${when}`)
}

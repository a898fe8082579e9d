import {
  isNativeAmount,
  isWalletError,
  type OrderState,
  type SwapOffer,
  type SwapOrder,
  WalletError
} from '../kernel/plugin-api.ts'
import { networkChecks } from './network-checks.ts'
import type { PluginLab } from './plugin-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'
import { type SwapSubject, swapAssets, walletAddresses } from './swap-lab.ts'

const DOCS = 'docs/write-a-plugin.md#swaps'

/** Every check of a swap provider, but for its cases. */
export const swapChecks: readonly Check<SwapSubject>[] = [
  {
    id: 'swap.offer',
    level: 'quick',
    reason: 'The kernel shows and ranks offers by their fields, and refuses one with a wrong field.',
    clause: '3.27',
    hint: 'Write amounts as digits in native units; give isEstimate, networkFee and payment.',
    async run(subject) {
      const { offer } = await soundOffer(subject)
      for (const field of ['fromNativeAmount', 'toNativeAmount', 'networkFee'] as const)
        must(isNativeAmount(offer[field]), () => `${field} of its offer is ${show(offer[field])}`)
      const { minReceiveAmount: least, payment, isEstimate } = offer
      must(least === undefined || isNativeAmount(least), () => `minReceiveAmount is ${show(least)}`)
      must(typeof isEstimate === 'boolean', () => `isEstimate of its offer is ${show(isEstimate)}`)
      const isPayable =
        payment !== null && typeof payment === 'object' && ('order' in payment || 'spends' in payment)
      must(isPayable, () => 'payment of its offer has neither spends nor order')
    }
  },
  {
    id: 'swap.exact',
    level: 'quick',
    reason: 'The user approves the amount that was asked for, to the last unit.',
    clause: DOCS,
    hint: 'Offer the requested amount on its own side, and compute with BigInt; a float loses digits.',
    async run({ open, quote, sample }) {
      const amount = nativeAmountBeside(sample.amount)
      for (const each of [sample.amount, amount]) {
        const { offers } = await quote(open(), { amount: each })
        const side = sample.quoteFor === 'to' ? 'toNativeAmount' : 'fromNativeAmount'
        const [offer] = offers
        if (offer === undefined) continue
        must(offer[side] === each, () => `It offers a ${side} of ${offer[side]} for a request of ${each}`)
      }
    }
  },
  {
    id: 'swap.addresses',
    level: 'quick',
    reason: 'An exchange learns an address only from a user who has approved.',
    clause: DOCS,
    hint: 'Call depositTo and refundTo in order(), and nowhere before.',
    async run(subject) {
      const { lab } = await soundOffer(subject)
      const sent = lab.network.requests.map(({ url, body }) => `${url} ${body}`).join('\n')
      const shown = Object.values(walletAddresses).find(address => sent.includes(address))
      must(shown === undefined, () => `A request for a quote contains the address ${shown}`)
    }
  },
  {
    id: 'swap.expiry',
    level: 'quick',
    reason: 'After its expiration date an offer cannot be approved.',
    clause: '3.27',
    hint: 'Set expirationDate only if the exchange states one: a Date after io.clock.now().',
    async run(subject) {
      const { lab, offer } = await soundOffer(subject)
      const { expirationDate: date } = offer
      if (date === undefined) return
      must(date instanceof Date, () => `Its expirationDate is ${show(date)}`)
      must(date.getTime() > lab.clock.now(), () => 'Its offer has expired when it is made')
    }
  },
  {
    id: 'swap.max',
    level: 'quick',
    reason: 'A request for the maximum spends what the wallet can pay, after the fee.',
    clause: DOCS,
    hint: 'Call context.maxFrom where quoteFor is max, and offer exactly that.',
    async run({ open, quote, sample }) {
      const most = nativeAmountBeside(sample.fromNativeAmount)
      const { offers, error, maxCount } = await quote(open(), { quoteFor: 'max', amount: '0', most })
      if (isWalletError(error)) return skip(`It refuses a request for the maximum: ${describeError(error)}`)
      must(error === undefined, () => `It throws ${describeError(error)}`)
      const [offer] = offers
      must(offer !== undefined, () => 'It offers nothing for a request for the maximum')
      must(maxCount > 0, () => 'It does not ask the wallet for the maximum')
      must(
        offer.fromNativeAmount === most,
        () => `It offers ${offer.fromNativeAmount}, and the maximum is ${most}`
      )
    }
  },
  {
    id: 'swap.unsupported',
    level: 'quick',
    reason: 'For a pair that it does not serve, a provider names both sides, so that others count.',
    clause: '8.41',
    hint: 'Throw SWAP_CURRENCY with pluginId, displayName, from and to.',
    async run({ open, quote, pluginId }) {
      for (const change of [{ from: swapAssets.ufo }, { to: swapAssets.ufo }]) {
        const { offers, error, isLate } = await quote(open(), change)
        must(offers.length === 0 && !isLate, () => 'It offers something for a coin that nobody has')
        must(
          isWalletError(error, 'SWAP_CURRENCY'),
          () => `For an unknown coin it throws ${describeError(error)}`
        )
        const { details } = error
        must(details.pluginId === pluginId, () => `SWAP_CURRENCY names the plugin ${show(details.pluginId)}`)
        const codes: readonly unknown[] = [details.from, details.to]
        must(codes.includes('UFO'), () => `SWAP_CURRENCY names ${codes.map(show).join(' and ')}`)
      }
    }
  },
  {
    id: 'swap.limits',
    level: 'full',
    reason: 'A limit without an amount and a direction leaves the user to guess.',
    clause: '8.40',
    hint: 'Throw SWAP_BELOW_LIMIT with nativeMin, or SWAP_ABOVE_LIMIT with nativeMax, and with direction and pluginId.',
    async run({ open, quote, pluginId, sample }) {
      const direction = sample.quoteFor === 'to' ? 'to' : 'from'
      for (const amount of ['1', `1${'0'.repeat(30)}`]) {
        const { error, offers, isLate } = await quote(open(), { amount })
        must(!isLate, () => `Asked for ${amount}, it has not ended after a minute`)
        if (error === undefined) continue
        must(isWalletError(error), () => `Asked for ${amount}, it throws ${describeError(error)}`)
        must(offers.length === 0, () => `Asked for ${amount}, it offers and throws`)
        const isBelow = isWalletError(error, 'SWAP_BELOW_LIMIT')
        const isAbove = isWalletError(error, 'SWAP_ABOVE_LIMIT')
        if (!isBelow && !isAbove) continue
        const limit = isBelow ? error.details.nativeMin : isAbove ? error.details.nativeMax : ''
        must(isNativeAmount(limit) && limit !== '0', () => `The limit of ${error.code} is ${show(limit)}`)
        must(error.details.pluginId === pluginId, () => `${error.code} names ${show(error.details.pluginId)}`)
        if (error.details.direction !== direction) continue
        const isMeant = isBelow ? BigInt(limit) > BigInt(amount) : BigInt(limit) < BigInt(amount)
        must(isMeant, () => `Asked for ${amount}, it throws ${error.code} with the limit ${limit}`)
      }
    }
  },
  {
    id: 'swap.wallet-error',
    level: 'quick',
    reason: 'An error of the wallet ranks above every other, so it has to arrive unchanged.',
    clause: '8.46',
    hint: 'Let what feeFor and maxFrom throw pass; do not turn it into another error.',
    async run({ open, quote }) {
      const feeError = new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'BTC' })
      const { offers, error, feeCount } = await quote(open(), { feeError })
      if (feeCount === 0) return skip('It asks for no fee')
      must(
        error === feeError,
        () => `The wallet throws INSUFFICIENT_FUNDS, and the plugin ${describeError(error)}`
      )
      must(offers.length === 0, () => 'It offers what the wallet cannot pay')
    }
  },
  {
    id: 'swap.order',
    level: 'quick',
    reason: 'The kernel signs nothing if an order differs from its offer.',
    clause: DOCS,
    hint: 'Order the amounts of the offer, and describe the payment of all of fromNativeAmount last.',
    async run(subject) {
      const { lab, offer } = await soundOffer(subject)
      mustFit(offer, await soundOrder(lab, subject, offer))
    }
  },
  {
    id: 'swap.order-later',
    level: 'full',
    reason: 'A user may approve after the round has closed, when its signal is aborted.',
    clause: DOCS,
    hint: 'Pass context.signal to requests for a quote, but not to those of order().',
    async run(subject) {
      const lab = subject.open()
      const handle: { abort?: () => void } = {}
      const { offers } = await subject.quote(lab, {}, handle)
      handle.abort?.()
      const [offer] = offers
      must(offer !== undefined, () => 'It offers nothing')
      await soundOrder(lab, subject, offer)
    }
  },
  {
    id: 'swap.order-faults',
    level: 'full',
    reason: 'What an exchange answers to an order is paid: nothing of it may be guessed.',
    clause: '8.12',
    hint: 'Check the reply to an order like any other, and throw BAD_REPLY, SERVER or SWAP_CHANGED.',
    async run(subject) {
      for (const [status, body] of [...FAULTY_ORDERS, [500, '{}'] as const]) {
        const { lab, offer } = await soundOffer(subject)
        const { length } = lab.network.requests
        lab.network.use(async () => ({ status, headers: {}, body }))
        const { order, error } = await subject.order(lab, offer)
        if (lab.network.requests.length === length) return skip('Its order sends no request')
        const text = JSON.stringify(body)
        must(order === undefined, () => `It orders although the exchange answers ${status} ${text}`)
        must(
          isWalletError(error),
          () => `After the answer ${status} ${text} it throws ${describeError(error)}`
        )
      }
    }
  },
  {
    id: 'swap.watch-order',
    level: 'full',
    reason:
      'A user who has paid wants to know how far the order is, and the kernel refuses a state that it does not know.',
    clause: DOCS,
    hint: 'Give one of the states of OrderState; payoutTxid only where it pays out, refundTxid only where it pays back.',
    async run(subject) {
      const { lab, offer } = await soundOffer(subject)
      const watched = await subject.watch(lab, await soundOrder(lab, subject, offer))
      if (watched === undefined) return skip('It does not tap watchOrder')
      const { report, error, isLate } = watched
      must(!isLate, () => 'It has not ended after a minute')
      must(error === undefined, () => `For its own order it throws ${describeError(error)}`)
      const state = report?.state
      must(state !== undefined && STATES.includes(state), () => `The state of an order is ${show(state)}`)
      const isPayout = report?.payoutTxid === undefined || ['sending', 'paidOut'].includes(state)
      must(isPayout, () => `It gives a payoutTxid in the state ${state}`)
      must(
        report?.refundTxid === undefined || state === 'refunded',
        () => `It gives a refundTxid in the state ${state}`
      )
    }
  },
  {
    id: 'swap.watch-faults',
    level: 'full',
    reason: 'An order that counts as paid out is not followed any more.',
    clause: DOCS,
    hint: 'Throw an error of the catalogue, or give the state unknown, unless the exchange has said something else.',
    async run(subject) {
      for (const [status, body] of [...FAULTY_ORDERS, [500, '{}'] as const]) {
        const { lab, offer } = await soundOffer(subject)
        const order = await soundOrder(lab, subject, offer)
        const { length } = lab.network.requests
        lab.network.use(async () => ({ status, headers: {}, body }))
        const watched = await subject.watch(lab, order)
        if (watched === undefined) return skip('It does not tap watchOrder')
        if (lab.network.requests.length === length) return skip('It sends no request for an order')
        const { report, error } = watched
        const text = `After the answer ${status} ${JSON.stringify(body)}`
        must(error === undefined || isWalletError(error), () => `${text} it throws ${describeError(error)}`)
        const isOpen = report === undefined || ['unknown', 'waiting', 'seen'].includes(report.state)
        must(isOpen, () => `${text} an order is ${report?.state}`)
      }
    }
  },
  ...networkChecks({ prefix: 'swap', docs: DOCS, failureClause: '4.33', figureClause: '3.27', seconds: 60 })
]

const FAULTY_ORDERS = ['', '{}', '[]', 'null', '{"id":7}', '<html></html>'].map(body => [200, body] as const)

const STATES: readonly OrderState[] = [
  ...([
    'waiting',
    'seen',
    'exchanging',
    'sending',
    'paidOut',
    'refunded',
    'failed',
    'late',
    'unknown'
  ] as const)
]

/** An amount a little above another, with a last digit of its own. */
const nativeAmountBeside = (amount: string): string => String(BigInt(amount) + BigInt(amount) / 10n + 7n)

/** A value in words that shows no long text. */
const show = (value: unknown): string => `${typeof value} ${JSON.stringify(value)?.slice(0, 40)}`

const soundOffer = async (
  subject: SwapSubject
): Promise<{ readonly lab: PluginLab; readonly offer: SwapOffer }> => {
  const lab = subject.open()
  const { offers, error, isLate } = await subject.quote(lab)
  must(!isLate, () => 'It has not ended after a minute')
  must(error === undefined, () => `It throws ${describeError(error)}`)
  const [offer] = offers
  must(offer !== undefined, () => 'It offers nothing')
  return { lab, offer }
}

const soundOrder = async (lab: PluginLab, subject: SwapSubject, offer: SwapOffer): Promise<SwapOrder> => {
  const { order, error } = await subject.order(lab, offer)
  must(order !== undefined, () => `Its order fails: ${describeError(error)}`)
  return order
}

const mustFit = (offer: SwapOffer, order: SwapOrder): void => {
  for (const side of ['fromNativeAmount', 'toNativeAmount'] as const)
    must(
      order[side] === offer[side],
      () => `Its order has a ${side} of ${show(order[side])}, the offer ${offer[side]}`
    )
  const last = order.spends.at(-1)
  must(last !== undefined, () => 'Its order has no payment')
  const total = last.spendTargets.reduce((sum, { nativeAmount: amount }) => sum + BigInt(amount ?? 0), 0n)
  const isWhole = total === BigInt(offer.fromNativeAmount)
  must(isWhole, () => `Its payment is of ${total}, and the offer of ${offer.fromNativeAmount}`)
  const isAddressed = last.spendTargets.every(({ publicAddress = '' }) => publicAddress !== '')
  must(isAddressed, () => 'Its payment has a target without an address')
}

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { openLocalWorld } from '../../../cli/profile/open-world.ts'
import { profilePaths } from '../../../cli/profile/paths.ts'
import {
  type NativeAmount,
  nativeAmount,
  type PolicyPlugin,
  type SwapOffer,
  type SwapPlugin
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { leaveOut, usesAgent } from '../../helpers/agents.ts'
import { type Envelope, makeHome, type Ran } from '../../helpers/command-line.ts'
import { failed, succeeded } from '../../helpers/envelopes.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { startInProcess } from '../../helpers/running-command.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
// So long that it stands in no random number, id or time by chance.
const PIN = '246810121416182022'
const input = JSON.stringify({ password: 'correct horse battery', pin: PIN })
test.after.always(remove)

const TILL = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const FILE = join(profilePaths('default', { HOLDFAST_HOME: home }).session, 'swap-quotes.json')
const STATE_OF = { home, input }

/** What the shop does just now; each test says what it needs. */
interface Behaviour {
  readonly offer: Partial<SwapOffer>
  /** What its order gives; undefined: what it offered. */
  readonly ordered?: NativeAmount
  readonly beforeOrder?: () => void
}
let behaviour: Behaviour = { offer: {} }
const requested: {
  readonly amount: string
  readonly side: string
  readonly promoCode: string | undefined
}[] = []
let orders = 0

const firm = makeShop({
  id: 'firm',
  displayName: 'Firm shop',
  answer: tapContext => {
    const { nativeAmount: amount, quoteFor } = tapContext.request
    requested.push({ amount, side: quoteFor, promoCode: tapContext.promoCode })
    const { offer, ordered, beforeOrder } = behaviour
    // Of all there is, some is left for the network's fee.
    const paid = quoteFor === 'max' ? nativeAmount('40000000') : amount
    const offered = offerOf({ request: { ...tapContext.request, nativeAmount: paid } }, offer)
    tapContext.offer({
      ...offered,
      payment: {
        async order() {
          orders += 1
          beforeOrder?.()
          const { fromNativeAmount, toNativeAmount } = offered
          return {
            spends: [
              { tokenId: null, spendTargets: [{ publicAddress: TILL, nativeAmount: fromNativeAmount }] }
            ],
            ...{ fromNativeAmount, toNativeAmount: ordered ?? toNativeAmount, orderId: `order-${orders}` }
          }
        }
      }
    })
  }
})
let otherRequested = 0
const other = makeShop({
  id: 'other',
  displayName: 'Other shop',
  answer: tapContext => {
    otherRequested += 1
    tapContext.offer(offerOf(tapContext, { isEstimate: true, toNativeAmount: nativeAmount('1000') }, TILL))
  }
})

const runWith =
  (plugins: readonly SwapPlugin[], ...more: readonly PolicyPlugin[]) =>
  (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--secrets-stdin', '--json'], { ...STATE_OF, plugins: [...plugins, ...more] })
const run = runWith([firm, other])
/** Commands that need no login. */
const isOpenToAll = ([group, name, third]: readonly string[]): boolean =>
  (group === 'fake' && (name !== 'chain' || third === 'mine')) || (group === 'swap' && name === 'close')
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const isOpen = isOpenToAll(args)
  const ran = await (isOpen ? runInProcess([...args, '--json'], { home }) : run(...args))
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
const shipped: string[] = []
const swapRequest = (amount = '0.01 BTC'): readonly string[] => [
  ...['--from', 'Savings', '--to', 'Lite', '--amount', amount],
  ...shipped.flatMap(id => ['--disable', id])
]
const txCount = async (): Promise<number> => (await dataOf('tx', 'list', 'Savings')).transactions.length
const kept = (): readonly { readonly quoteId: string; readonly isApproved: boolean }[] =>
  JSON.parse(readFileSync(FILE, 'utf8')).quotes
/** Asks for quotes, and gives the id of the shop's; what the shop is like then is over. */
const quoteOf = async (offer: Partial<SwapOffer> = {}, ...flags: readonly string[]): Promise<string> => {
  behaviour = { offer }
  const round = await dataOf('swap', 'quote', ...swapRequest(), ...flags)
  behaviour = { offer: {} }
  return quoteFrom(round, 'firm').id
}
/** The quote of one provider. @throws with the whole round if the provider has none: it says why */
const quoteFrom = (round: Envelope['data'], pluginId: string): Envelope['data'] => {
  const found = round.quotes.find(({ plugin }: { plugin: { id: string } }) => plugin.id === pluginId)
  if (found === undefined) throw new Error(`no quote of ${pluginId}: ${JSON.stringify(round, null, 2)}`)
  return found
}
const amount = (units: number): NativeAmount => nativeAmount(String(units))

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], STATE_OF)
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
  await dataOf('wallets', 'create', 'litecoin', '--name', 'Lite')
  await dataOf('fake', 'chain', 'fund', 'Savings', '0.5 BTC', '--confirm')
  const { providers } = await dataOf('swap', 'providers')
  shipped.push(
    ...providers.map(({ id }: { id: string }) => id).filter((id: string) => id !== 'firm' && id !== 'other')
  )
})
test.beforeEach(() => {
  behaviour = { offer: {} }
})

test.serial(
  'a quote is shown with its id, kept in a private file without a secret, and named to be approved',
  async t => {
    const { quotes } = await dataOf('swap', 'quote', ...swapRequest(), '--promo', 'firm=TEN')
    t.regex(quotes[0].id, /^[0-9a-f]{8}-\d+$/)
    t.is(quotes.length, 2)
    const [worse, best, ...more] = kept()
    t.deepEqual(more, [])
    t.is(worse?.quoteId, quotes[1].id)
    t.like(best, {
      quoteId: quotes[0].id,
      pluginId: 'firm',
      ...{ quoteFor: 'from', nativeAmount: '1000000', fromNativeAmount: '1000000', toNativeAmount: '900000' },
      ...{ fromTokenId: null, toTokenId: null, isEstimate: false, promoCode: 'TEN', isApproved: false }
    })
    t.is(statSync(FILE).mode & 0o777, 0o600)
    const file = readFileSync(FILE, 'utf8')
    t.false(file.includes(PIN) || file.includes('correct horse'))
    const said = await runInProcess(['swap', 'quote', ...swapRequest(), '--secrets-stdin'], {
      ...STATE_OF,
      plugins: [firm, other]
    })
    const ids = said.stdout
      .trimEnd()
      .split('\n')
      .map(line => line.split('\t').at(-1))
    t.deepEqual(
      ids,
      kept()
        .slice(2)
        .toReversed()
        .map(({ quoteId }) => quoteId)
    )
    t.true(said.stderr.includes(`holdfast swap approve ${ids[0]}\n`), said.stderr)
    const watched = await runInProcess(['swap', 'quote', ...swapRequest(), '--watch', '--secrets-stdin'], {
      ...STATE_OF,
      plugins: [firm]
    })
    t.true(
      watched.stdout.startsWith(`quote\tfirm\t0.009 LTC for 0.01 BTC\t${kept().at(-1)?.quoteId}\n`),
      watched.stdout
    )
  }
)

test.serial(
  'a quote is approved by the start of its id: only its provider is asked again, and the payment is recorded',
  async t => {
    const id = await quoteOf({}, '--promo', 'firm=TEN')
    const [count, othersBefore, ordersBefore] = [await txCount(), otherRequested, orders]
    const firmId = kept().at(-1)?.quoteId
    t.is(firmId, id)
    const ran = await run('swap', 'approve', id, '--yes', '--again')
    const { data } = succeeded(t, ran, 'swap.approve/1')
    t.regex(data.txid, /^[0-9a-f]{64}$/)
    t.is(data.orderId, `order-${orders}`)
    t.is(orders, ordersBefore + 1)
    t.is(otherRequested, othersBefore)
    t.deepEqual(requested.at(-1), { amount: '1000000', side: 'from', promoCode: 'TEN' })
    t.regex(ran.stderr, /swap with +Firm shop \(CEX\)\n[\s\S]*receive +0\.009 LTC\n/)
    t.is(await txCount(), count + 1)
    t.is((await dataOf('swap', 'history')).swaps[0].txid, data.txid)

    const again = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'QUOTE_ENDED', 46)
    t.is(again.error.details.reason, 'approved')
    t.is(await txCount(), count + 1)
    t.is(orders, ordersBefore + 1)
    t.deepEqual(await dataOf('swap', 'close', id), { quoteId: id, closed: false })
  }
)

test.serial('the beginning of an id is enough if only one quote begins so', async t => {
  const id = await quoteOf()
  const [round = ''] = id.split('-')
  failed(t, await run('swap', 'approve', round, '--dry-run'), 'USAGE', 2)
  failed(t, await run('swap', 'approve', id.slice(0, 3), '--dry-run'), 'NOT_FOUND', 6)
  behaviour = { offer: {} }
  await runWith([firm])('swap', 'quote', ...swapRequest())
  const alone = kept().at(-1)?.quoteId ?? ''
  const { data } = succeeded(
    t,
    await run('swap', 'approve', alone.slice(0, 8), '--dry-run'),
    'swap.approve/1'
  )
  t.like(data, { dryRun: true, quote: { plugin: { id: 'firm' } } })
})

test.serial(
  '--dry-run shows the current offer and orders nothing; so does a run without a prompt',
  async t => {
    const id = await quoteOf()
    const before = [orders, await txCount()]
    const { data } = succeeded(t, await run('swap', 'approve', id, '--dry-run'), 'swap.approve/1')
    t.like(data, { dryRun: true, quote: { to: { native: '900000' } } })
    const open = failed(t, await run('swap', 'approve', id), 'CONFIRMATION_REQUIRED', 5)
    t.regex(open.error.next[0].command, new RegExp(`swap approve ${id} .*--json --yes$`))
    t.notRegex(open.error.hint, /least/)
    t.deepEqual([orders, await txCount()], before)
    t.like(kept().at(-1), { quoteId: id, isApproved: false })
  }
)

test.serial('an offer that has become worse is refused with both figures', async t => {
  const id = await quoteOf()
  const before = [orders, await txCount()]
  behaviour = { offer: { toNativeAmount: amount(899_999) } }
  const { error } = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'SWAP_CHANGED', 46)
  t.is(error.message, 'The order of firm would give 0.00899999 LTC instead of 0.009 LTC')
  t.like(error.details, { shown: { to: { native: '900000' } }, now: { to: { native: '899999' } } })
  t.regex(error.hint, /Accept the new terms with --min-receive/)
  t.regex(error.next[0].command, new RegExp(`swap approve ${id} .*--min-receive '0\\.00899999 LTC'$`))
  const limited = await run('swap', 'approve', id, '--yes', '--again', '--min-receive', '0.009')
  t.regex(failed(t, limited, 'SWAP_CHANGED', 46).error.message, /0\.00899999 LTC, less than 0\.009 LTC$/)
  behaviour = { offer: { isEstimate: true, toNativeAmount: amount(900_000) } }
  const vague = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'SWAP_CHANGED', 46)
  t.is(vague.error.message, 'The order of firm would give ~0.009 LTC instead of 0.009 LTC')
  t.deepEqual([orders, await txCount()], before, 'nothing was ordered')

  const wanted = await quoteOf({}, '--amount', '0.009 LTC', '--for', 'to')
  behaviour = { offer: { fromNativeAmount: amount(1_000_001) } }
  const dear = failed(
    t,
    await run('swap', 'approve', wanted, '--yes', '--again', '--min-receive', '0'),
    'SWAP_CHANGED',
    46
  )
  t.is(dear.error.message, 'The order of firm would cost 0.01000001 BTC instead of 0.01 BTC')
  t.deepEqual([orders, await txCount()], before, 'nothing was ordered')
  t.like(kept().at(-1), { quoteId: wanted, isApproved: false })
})

test.serial(
  'an estimate may be one percent worse than shown, in its promise too, and the order no worse than that',
  async t => {
    const estimate = (to: number, least: number): Partial<SwapOffer> => ({
      ...{ isEstimate: true, toNativeAmount: amount(to), minReceiveAmount: amount(least) }
    })
    const id = await quoteOf(estimate(1_000_000, 950_000))
    const tries = async (offer: Partial<SwapOffer>, ...flags: readonly string[]): Promise<Ran> => {
      behaviour = { offer }
      return run('swap', 'approve', id, ...flags)
    }
    succeeded(t, await tries(estimate(990_000, 940_500), '--dry-run'), 'swap.approve/1')
    failed(t, await tries(estimate(989_999, 940_500), '--dry-run'), 'SWAP_CHANGED', 46)
    failed(t, await tries(estimate(990_000, 940_499), '--dry-run'), 'SWAP_CHANGED', 46)
    failed(
      t,
      await tries({ isEstimate: true, toNativeAmount: amount(1_000_000) }, '--dry-run'),
      'SWAP_CHANGED',
      46
    )
    succeeded(t, await tries({ toNativeAmount: amount(990_000) }, '--dry-run'), 'swap.approve/1')

    const before = await txCount()
    // Each step loses less than one percent, and both together more.
    behaviour = { offer: estimate(992_000, 945_000), ordered: amount(985_000) }
    failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'SWAP_CHANGED', 46)
    t.is(await txCount(), before)
    behaviour = { offer: estimate(992_000, 945_000), ordered: amount(990_000) }
    succeeded(t, await run('swap', 'approve', id, '--yes', '--again'), 'swap.approve/1')
    t.is(await txCount(), before + 1)
  }
)

test.serial(
  '--min-receive accepts less than was shown, and --max-fee refuses before an order is made',
  async t => {
    const id = await quoteOf()
    const before = orders
    behaviour = { offer: { toNativeAmount: amount(800_000), networkFee: amount(50) } }
    failed(
      t,
      await run('swap', 'approve', id, '--yes', '--again', '--min-receive', '0.008', '--max-fee', '49 sats'),
      'MAX_FEE',
      36
    )
    t.is(orders, before)
    succeeded(
      t,
      await run('swap', 'approve', id, '--yes', '--again', '--min-receive', '0.008'),
      'swap.approve/1'
    )
  }
)

test.serial('swapping all pays the amount that was shown, without what arrived since', async t => {
  await dataOf('fake', 'chain', 'mine')
  const id = await quoteOf({}, '--amount', 'max')
  t.is(requested.at(-1)?.side, 'max')
  await dataOf('fake', 'chain', 'fund', 'Savings', '0.1 BTC', '--confirm')
  succeeded(t, await run('swap', 'approve', id, '--dry-run'), 'swap.approve/1')
  t.deepEqual(requested.at(-1), { amount: '40000000', side: 'from', promoCode: undefined })
})

test.serial('a quote that is unknown, closed, or of another account is not approved', async t => {
  const missing = failed(t, await run('swap', 'approve', 'ffffffff-1', '--yes', '--again'), 'NOT_FOUND', 6)
  t.regex(missing.error.hint, /until it expires or is closed/)
  const id = await quoteOf()
  t.deepEqual(await dataOf('swap', 'close', id, '--dry-run'), { quoteId: id, closed: false, dryRun: true })
  await runInProcess(['account', 'create', 'bob', '--secrets-stdin'], STATE_OF)
  const foreign = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'NOT_FOUND', 6)
  t.regex(foreign.error.message, /belongs to another account/)
  await dataOf('login', 'alice')
  const before = await txCount()
  t.deepEqual(await dataOf('swap', 'close', id), { quoteId: id, closed: true })
  t.deepEqual(await dataOf('swap', 'close', id), { quoteId: id, closed: false })
  failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'NOT_FOUND', 6)
  t.is(await txCount(), before)
})

test.serial('a provider that is switched off or gone is named', async t => {
  const id = await quoteOf()
  await dataOf('swap', 'disable', 'firm')
  const off = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'NO_SWAP_PROVIDERS', 45)
  t.is(off.error.hint, 'The provider firm of this quote is switched off.')
  t.is(off.error.next[0].command, 'holdfast swap enable firm')
  await dataOf('swap', 'enable', 'firm')
  const gone = failed(t, await runWith([other])('swap', 'approve', id, '--yes', '--again'), 'NOT_FOUND', 6)
  t.regex(gone.error.message, /firm of this quote is no longer installed/)
})

test.serial('of two approvals at once one pays, and the other fails as already approved', async t => {
  const id = await quoteOf()
  const before = await txCount()
  const both = await Promise.all([1, 2].map(() => run('swap', 'approve', id, '--yes', '--again')))
  const [winner, loser] = both.toSorted((one, two) => (one.code ?? 0) - (two.code ?? 0))
  t.is(winner?.code, 0, winner?.stderr)
  t.is(failed(t, loser as Ran, 'QUOTE_ENDED', 46).error.details.reason, 'approved')
  t.is(await txCount(), before + 1)
})

test.serial('a quote that another process approves or closes during the review is not signed', async t => {
  for (const [reason, change] of [
    ['approved', (quote: object) => [{ ...quote, isApproved: true }]],
    ['closed', () => []]
  ] as const) {
    const id = await quoteOf()
    const [before, orderedBefore] = [await txCount(), orders]
    behaviour = {
      offer: {},
      beforeOrder: () =>
        writeFileSync(
          FILE,
          JSON.stringify({
            quotes: kept().flatMap(quote => (quote.quoteId === id ? change(quote) : [quote]))
          })
        )
    }
    const { error } = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'QUOTE_ENDED', 46)
    t.is(error.details.reason, reason)
    t.is(orders, orderedBefore + 1)
    t.is(await txCount(), before)
    t.is(kept().find(({ quoteId }) => quoteId === id)?.isApproved, reason === 'approved' ? true : undefined)
  }
})

test.serial('a payment that is refused before it is signed leaves the quote where it was', async t => {
  const id = await quoteOf()
  const before = await txCount()
  const seen: boolean[] = []
  const policy: PolicyPlugin = {
    id: 'no-hand',
    kind: 'policy',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('', async () => {
        seen.push(kept().find(({ quoteId }) => quoteId === id)?.isApproved === true)
        throw new Error('not today')
      })
  }
  t.not((await runWith([firm], policy)('swap', 'approve', id, '--yes', '--again')).code, 0)
  t.deepEqual(seen, [true], 'it was taken before the signature')
  t.is(await txCount(), before)
  succeeded(t, await run('swap', 'approve', id, '--yes', '--again'), 'swap.approve/1')
})

// Its policy runs in a process of its own, which cannot share the world of an agent.
const alone = usesAgent ? leaveOut : test.serial

alone('a payment that may have been sent uses up the quote', async t => {
  const lost = await quoteOf()
  const server = startInProcess(['fake', 'start', '--json'], STATE_OF)
  await server.waitFor(/authServer/)
  const cutter: PolicyPlugin = {
    id: 'cable-cutter',
    kind: 'policy',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('', async () => {
        await runInProcess(['fake', 'net', 'offline'], STATE_OF)
      })
  }
  const ran = await runWith([firm], cutter)('swap', 'approve', lost, '--yes', '--again')
  await runInProcess(['fake', 'net', 'online'], STATE_OF)
  await server.stop()
  t.is(ran.json.error.code, 'BROADCAST_UNKNOWN', ran.stdout)
  const again = failed(t, await run('swap', 'approve', lost, '--yes', '--again'), 'QUOTE_ENDED', 46)
  t.is(again.error.details.reason, 'approved')
  // Its coin is most of what the wallet has, and is reserved with its change until the bytes have been sent again.
  const { txid } = ran.json.error.details
  succeeded(t, await run('tx', 'resend', 'Savings', txid, '--yes'), 'tx.resend/1')
})

test.serial('a damaged file is moved aside with a warning, and does not stop new quotes', async t => {
  for (const text of ['{"quotes": [', '{"quotes": [{"quoteId": "ffffffff-1"}]}']) {
    writeFileSync(FILE, text)
    const ran = await run('swap', 'approve', 'ffffffff-1', '--yes', '--again')
    failed(t, ran, 'NOT_FOUND', 6)
    t.true(ran.stderr.includes(`could not be read; the old file is now ${FILE}.damaged`), ran.stderr)
    t.is(readFileSync(`${FILE}.damaged`, 'utf8'), text)
  }
  const id = await quoteOf()
  t.is(kept().at(-1)?.quoteId, id)
})

test.serial('the newest 200 quotes are kept', async t => {
  await quoteOf()
  const [one] = kept()
  writeFileSync(
    FILE,
    JSON.stringify({ quotes: Array.from({ length: 200 }, (_, at) => ({ ...one, quoteId: `filler-${at}` })) })
  )
  const id = await quoteOf()
  const ids = kept().map(({ quoteId }) => quoteId)
  t.is(ids.length, 200)
  t.deepEqual([ids[0], ids.at(-1)], ['filler-2', id])
})

test.serial('a quote is refused after the market moved, and paid once the price is back', async t => {
  const quoted = await dataOf('swap', 'quote', '--from', 'Savings', '--to', 'Lite', '--amount', '0.1 BTC')
  const { id, to } = quoteFrom(quoted, 'changenow')
  const setPrice = async (usd: string): Promise<string> => {
    const paths = profilePaths('default', { HOLDFAST_HOME: home })
    const { world, close } = await openLocalWorld(paths, { holder: 'a test', io: makeNodeIo() })
    const before = world.providers.market.priceOf('LTC') ?? ''
    world.providers.market.setPrice('LTC', usd)
    await close()
    return before
  }
  const before = await txCount()
  const price = await setPrice('200')
  const { error } = failed(t, await run('swap', 'approve', id, '--yes', '--again'), 'SWAP_CHANGED', 46)
  t.deepEqual(error.details.shown.to, to)
  t.true(BigInt(error.details.now.to.native) < BigInt(to.native))
  t.is(await txCount(), before)
  await setPrice(price)
  const { data } = succeeded(t, await run('swap', 'approve', id, '--yes', '--again'), 'swap.approve/1')
  await dataOf('fake', 'chain', 'mine')
  t.is((await dataOf('swap', 'history')).swaps[0].txid, data.txid)
})

test.serial(
  'an expired quote is refused without a network, and one without a date after half an hour',
  async t => {
    const query = ['swap', 'quote', '--from', 'Savings', '--to', 'Lite', '--amount', '0.1 BTC']
    const round = await dataOf(...query)
    const dated = quoteFrom(round, 'changenow').id
    const undated = quoteFrom(round, 'firm').id
    await dataOf('fake', 'clock', 'advance', '29m')
    const before = [requested.length, orders]
    const ended = async (id: string): Promise<void> => {
      const ran = await run('swap', 'approve', id, '--yes', '--again', '--offline')
      t.is(failed(t, ran, 'QUOTE_ENDED', 46).error.details.reason, 'expired')
    }
    await ended(dated)
    t.deepEqual([requested.length, orders], before)
    succeeded(t, await run('swap', 'approve', undated, '--dry-run'), 'swap.approve/1')
    await dataOf('fake', 'clock', 'advance', '1m')
    await ended(undated)
    await dataOf(...query)
    const ids = kept().map(({ quoteId }) => quoteId)
    t.false(ids.includes(dated) || ids.includes(undated), 'they are dropped when new ones are kept')
    const piped = await runInProcess([...query, '--secrets-stdin'], { ...STATE_OF, plugins: [firm] })
    const row = piped.stdout.split('\n').find(line => line.includes('\tchangenow\t'))
    t.regex(
      row?.split('\t')[4] ?? '',
      /^\d?\d:\d\d$/,
      'the time that is left is told by the clock of the world'
    )
    t.true(Number.parseInt(row?.split('\t')[4] ?? '99', 10) < 29, row)
  }
)

import test from 'ava'
import { nativeAmount, type PolicyPlugin, type SwapPlugin, WalletError } from '../../../kernel/index.ts'
import { type Envelope, makeHome, type Ran } from '../../helpers/command-line.ts'
import { failed, succeeded } from '../../helpers/envelopes.ts'
import { type InProcessOptions, runInProcess } from '../../helpers/in-process.ts'
import { startInProcess } from '../../helpers/running-command.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const TILL = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
let orders = 0

/** What the firm shop says of its orders. */
let sayOfOrder = (): unknown => ({ state: 'waiting' })

const firm = makeShop({
  watch: () => sayOfOrder(),
  id: 'firm',
  displayName: 'Firm shop',
  supportEmail: 'help@firm.example',
  answer: async tapContext => {
    const from = tapContext.request.nativeAmount
    tapContext.offer(
      offerOf(tapContext, {
        expirationDate: new Date(Date.now() + 300_000),
        maxFulfillmentSeconds: 600,
        networkFee: await tapContext.feeFor([{ tokenId: null, spendTargets: [{ nativeAmount: from }] }]),
        payment: {
          async order() {
            orders += 1
            const { toNativeAmount } = offerOf(tapContext)
            return {
              spends: [{ tokenId: null, spendTargets: [{ publicAddress: TILL, nativeAmount: from }] }],
              ...{ fromNativeAmount: from, toNativeAmount },
              ...{ orderId: `order-${orders}`, orderUri: `https://firm.example/${orders}` }
            }
          }
        }
      })
    )
  }
})
const estimating = makeShop({
  id: 'estimating',
  displayName: 'Estimating shop',
  isDex: true,
  answer: tapContext =>
    tapContext.offer(
      offerOf(
        tapContext,
        {
          isEstimate: true,
          toNativeAmount: nativeAmount(tapContext.request.nativeAmount),
          minReceiveAmount: nativeAmount('1')
        },
        TILL
      )
    )
})
const picky = makeShop({
  id: 'picky',
  displayName: 'Picky shop',
  answer: () => {
    throw new WalletError('SWAP_BELOW_LIMIT', { pluginId: 'picky', nativeMin: '5000000', direction: 'from' })
  }
})
const silent = makeShop({ id: 'silent', displayName: 'Silent shop', answer: () => new Promise(() => {}) })
const shut = makeShop({
  id: 'shut',
  displayName: 'Shut shop',
  checkSettings: ({ apiKey }) => ({ needsActivation: apiKey === undefined })
})
const shops: readonly SwapPlugin[] = [firm, estimating, picky]

const runWith =
  (plugins: readonly SwapPlugin[]) =>
  (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--secrets-stdin'], { home, input, plugins })
const run = runWith(shops)
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
// Providers that ship answer in the fake world, too; these tests are about their own.
const shipped: string[] = []
const swapRequest = (): readonly string[] => [
  ...['--from', 'Savings', '--to', 'Lite', '--amount', '0.01 BTC'],
  ...shipped.flatMap(id => ['--disable', id])
]
const txCount = async (): Promise<number> => (await dataOf('tx', 'list', 'Savings')).transactions.length

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
  await dataOf('wallets', 'create', 'litecoin', '--name', 'Lite')
  await dataOf('fake', 'chain', 'fund', 'Savings', '0.5 BTC', '--confirm')
  const { providers } = await dataOf('swap', 'providers')
  const own = new Set([...shops, silent, shut].map(({ id }) => id))
  shipped.push(...providers.map(({ id }: { id: string }) => id).filter((id: string) => !own.has(id)))
})

test.serial('swap quote ranks the quotes with reasons, and lists refusals with their limit', async t => {
  const { data } = succeeded(t, await run('swap', 'quote', ...swapRequest(), '--json'), 'swap.quote/1')
  const [best, second] = data.quotes
  t.like(best, { plugin: { id: 'firm', name: 'Firm shop', type: 'CEX' }, rank: 1, estimate: false })
  t.deepEqual(best.rankReasons, ['a firm amount, no estimate'])
  t.like(best.from, { native: '1000000', display: '0.01', code: 'BTC' })
  t.like(best.to, { native: '900000', code: 'LTC' })
  t.like(best, { maxFulfillmentSeconds: 600, fate: null, minReceive: null })
  t.regex(best.expiresAt, /^\d{4}-.*Z$/)
  t.is(best.networkFee.code, 'BTC')
  t.like(second, { plugin: { id: 'estimating', type: 'DEX' }, rank: 2, estimate: true })
  t.is(second.minReceive.native, '1')
  t.is(data.rejected.length, 1)
  t.like(data.rejected[0], { plugin: { id: 'picky' }, state: 'failed' })
  t.like(data.rejected[0].error, { code: 'SWAP_BELOW_LIMIT' })
  t.like(data.rejected[0].error.limit, { native: '5000000', display: '0.05', code: 'BTC', direction: 'from' })
  t.is(orders, 0, 'a quote orders nothing')
})

test.serial('piped, each provider is a row; preferences and exclusions count', async t => {
  const piped = await run('swap', 'quote', ...swapRequest())
  const rows = piped.stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'))
  t.deepEqual(
    rows.map(([rank, id, state]) => [rank, id, state]),
    [
      ['1', 'firm', 'open'],
      ['2', 'estimating', 'open'],
      ['', 'picky', 'failed']
    ]
  )
  t.is(rows[0]?.[3], '0.009 LTC for 0.01 BTC')
  t.is(rows[1]?.[3], '~0.01 LTC for 0.01 BTC')
  t.is(rows[2]?.[3], 'Amount is too low: at least 0.05 BTC')
  const idsOf = async (...flags: readonly string[]): Promise<string[]> =>
    (await dataOf('swap', 'quote', ...swapRequest(), ...flags)).quotes.map(
      ({ plugin }: { plugin: { id: string } }) => plugin.id
    )
  t.deepEqual(await idsOf('--prefer-type', 'DEX'), ['estimating', 'firm'])
  t.deepEqual(await idsOf('--prefer', 'estimating'), ['estimating', 'firm'])
  t.deepEqual(await idsOf('--promo', 'estimating=TEN'), ['estimating', 'firm'])
  t.deepEqual(await idsOf('--disable', 'firm'), ['estimating'])
  t.deepEqual(await idsOf('--disable', 'FIRM'), ['estimating'])
})

test.serial('a misspelled provider is an error, and no provider is asked', async t => {
  const before = orders
  for (const flags of [
    ['--disable', 'frim'],
    ['--prefer', 'frim'],
    ['--promo', 'frim=TEN']
  ]) {
    const requested = await run(
      'swap',
      'run',
      ...swapRequest(),
      ...flags,
      '--yes',
      '--again',
      '--min-receive',
      '0.001 LTC',
      '--json'
    )
    const { error } = failed(t, requested, 'NOT_FOUND', 6)
    t.regex(error.hint, /\bfirm, estimating, picky\b/)
  }
  t.is(orders, before)
})

test.serial('the built-in exchanges quote in a fake world without the user’s own key', async t => {
  const { quotes, rejected } = await dataOf(
    'swap',
    'quote',
    ...swapRequest().slice(0, 4),
    '--amount',
    '0.1 BTC'
  )
  const offering = new Set(quotes.map(({ plugin }: { plugin: { id: string } }) => plugin.id))
  for (const id of ['changenow', 'letsexchange', 'sideshift', 'thorchain']) t.true(offering.has(id), id)
  const refused = Object.fromEntries(
    rejected.map(({ plugin, error }: { plugin: { id: string }; error: object }) => [plugin.id, error])
  )
  t.is(refused.transfer.code, 'SWAP_CURRENCY')
})

test.serial('swap quote takes an amount of either side, or the maximum', async t => {
  const quotes = (...flags: readonly string[]): Promise<Ran> =>
    run('swap', 'quote', ...swapRequest().slice(0, 4), ...swapRequest().slice(6), ...flags, '--json')
  const wanted = await quotes('--amount', '0.009 LTC', '--for', 'to')
  t.is(wanted.json.data.quotes[0].to.native, '900000')
  failed(t, await quotes(), 'USAGE', 2)
  failed(t, await quotes('--amount', '1 BTC', '--for', 'max'), 'USAGE', 2)
  failed(t, await quotes('--amount', 'max', '--for', 'to'), 'USAGE', 2)
  failed(t, await quotes('--amount', '1 LTC'), 'AMOUNT_INVALID', 2)
  failed(t, await run('swap', 'quote', '--from', 'Savings', '--amount', '1', '--json'), 'USAGE', 2)
  failed(t, await quotes('--to', 'Lite:USDX', '--amount', '0.01'), 'NOT_FOUND', 6)
})

test.serial('--watch reports each answer as it comes and ends ranked; Ctrl-C stops waiting', async t => {
  const slow = startInProcess(
    ['swap', 'quote', ...swapRequest(), '--watch', '--all', '--json', '--secrets-stdin'],
    {
      home,
      input,
      plugins: [...shops, silent]
    }
  )
  await slow.waitFor(/^(?=[\s\S]*"firm")(?=[\s\S]*"estimating")(?=[\s\S]*"picky")/)
  const { code, stdout } = await slow.stop()
  t.is(code, 0)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.deepEqual(
    lines
      .slice(0, -3)
      .map(({ event }) => event)
      .sort(),
    ['swap.quote', 'swap.quote', 'swap.rejected']
  )
  t.like(lines.at(-3), { event: 'swap.rejected' })
  t.like(lines.at(-3).data, { plugin: { id: 'silent' }, state: 'timed out' })
  t.is(lines.at(-2).event, 'swap.ranked')
  t.is(lines.at(-2).data.quotes[0].plugin.id, 'firm')
  t.deepEqual(lines.at(-1), { event: 'end', reason: 'stopped' })
})

test.serial('a missing answer is awaited until --timeout', async t => {
  const ran = await runWith([firm, silent])('swap', 'quote', ...swapRequest(), '--timeout', '500ms', '--json')
  const { data } = succeeded(t, ran, 'swap.quote/1')
  t.is(data.quotes.length, 1)
  t.like(data.rejected[0], { plugin: { id: 'silent' }, state: 'timed out' })
})

test.serial('failures end with the codes of the catalogue', async t => {
  const only = runWith([picky])
  const below = failed(t, await only('swap', 'quote', ...swapRequest(), '--json'), 'SWAP_BELOW_LIMIT', 41)
  t.is(below.error.details.nativeMin, '5000000')
  const none = await run(
    'swap',
    'quote',
    ...swapRequest(),
    ...shops.flatMap(({ id }) => ['--disable', id]),
    '--json'
  )
  failed(t, none, 'NO_SWAP_PROVIDERS', 45)
  const same = await run('swap', 'quote', '--from', 'Savings', '--to', 'Savings', '--amount', '1', '--json')
  failed(t, same, 'SAME_CURRENCY', 44)
  failed(t, await run('swap', 'enable', 'nobody', '--json'), 'NOT_FOUND', 6)
})

test.serial('swap providers lists states and records; enable and disable are for all devices', async t => {
  const rowOf = async (id: string): Promise<object> => {
    const { providers } = (await runWith([...shops, shut])('swap', 'providers', '--json')).json.data
    return providers.find((one: { id: string }) => one.id === id)
  }
  t.like(await rowOf('firm'), { type: 'CEX', enabled: true, needsActivation: false, lastError: null })
  t.like(await rowOf('picky'), { lastError: 'Amount is too low' })
  t.like(await rowOf('shut'), { needsActivation: true, medianMs: null })
  t.is(typeof ((await rowOf('firm')) as { medianMs: unknown }).medianMs, 'number')
  t.true((await dataOf('swap', 'disable', 'firm', '--dry-run')).dryRun)
  t.like(await rowOf('firm'), { enabled: true })
  await dataOf('swap', 'disable', 'FIRM')
  t.like(await rowOf('firm'), { enabled: false })
  t.is((await dataOf('swap', 'quote', ...swapRequest())).quotes[0].plugin.id, 'estimating')
  await dataOf('swap', 'enable', 'firm')
  t.like(await rowOf('firm'), { enabled: true })
})

test.serial(
  'swap settings are shown without secrets, and a secret never stands on the command line',
  async t => {
    const settings = (...args: readonly string[]): Promise<Ran> =>
      runWith([shut])('swap', 'settings', 'shut', ...args, '--json')
    t.deepEqual((await settings()).json.data, { id: 'shut', settings: {} })
    const refused = await settings('--set', 'apiKey=canary-1')
    t.notRegex(refused.stdout + refused.stderr.replace(/holdfast .*/g, ''), /canary-1/)
    failed(t, refused, 'SECRET_SOURCE', 2)
    const given = await runInProcess(
      [
        'swap',
        'settings',
        'shut',
        '--set',
        'region=EU',
        '--ask',
        'partnerSecret',
        '--secrets-stdin',
        '--json'
      ],
      {
        home,
        input: JSON.stringify({ pin: '2468', 'api-key': 'canary-2', partnerSecret: 'canary-3' }),
        plugins: [shut]
      }
    )
    const { data } = succeeded(t, given, 'swap.settings/1')
    t.false(data.needsActivation)
    t.notRegex(given.stdout + given.stderr, /canary/)
    t.like(data.settings, { region: 'EU', apiKey: { redacted: true, hint: '--reveal' } })
    t.like((await settings('--reveal')).json.data.settings, { apiKey: 'canary-2', partnerSecret: 'canary-3' })
    await settings('--unset', 'region', '--unset', 'partnerSecret')
    t.deepEqual((await settings('--reveal')).json.data.settings, { apiKey: 'canary-2' })
    failed(t, await settings('--ask', 'otherKey'), 'PROMPT_IMPOSSIBLE', 5)
  }
)

test.serial('swap run orders and sends nothing before the confirmation', async t => {
  const before = await txCount()
  const requested = failed(
    t,
    await run('swap', 'run', ...swapRequest(), '--json'),
    'CONFIRMATION_REQUIRED',
    5
  )
  t.like(requested.error.details.summary, { plugin: { id: 'firm' }, to: { native: '900000' } })
  t.regex(requested.error.next[0].command, / --min-receive '0\.009 LTC' --yes$/)
  failed(t, await run('swap', 'run', ...swapRequest(), '--yes', '--again', '--json'), 'USAGE', 2)
  const dear = await run(
    'swap',
    'run',
    ...swapRequest(),
    '--yes',
    '--again',
    '--min-receive',
    '1 LTC',
    '--json'
  )
  t.like(failed(t, dear, 'MIN_RECEIVE', 36).error.details.best, { plugin: { id: 'firm' } })
  const fees = await run(
    'swap',
    'run',
    ...swapRequest(),
    '--yes',
    '--again',
    '--min-receive',
    '0',
    '--max-fee',
    '0',
    '--json'
  )
  failed(t, fees, 'MIN_RECEIVE', 36)
  const dry = succeeded(t, await run('swap', 'run', ...swapRequest(), '--dry-run', '--json'), 'swap.run/1')
  t.like(dry.data, { dryRun: true, quote: { plugin: { id: 'firm' } } })
  t.is(orders, 0)
  t.is(await txCount(), before)
})

test.serial(
  'with --yes, the guaranteed amount is checked against --min-receive, and the payment against --max-pay',
  async t => {
    const before = [orders, await txCount()]
    const only = ['--disable', 'firm', '--yes', '--again', '--json']
    const promised = await run('swap', 'run', ...swapRequest(), ...only, '--min-receive', '0.009 LTC')
    t.regex(
      failed(t, promised, 'MIN_RECEIVE', 36).error.hint,
      /0\.00000001 LTC for 0\.01 BTC from Estimating/
    )
    const dear = makeShop({
      id: 'dear',
      displayName: 'Dear shop',
      answer: tapContext =>
        tapContext.offer(
          offerOf(
            tapContext,
            { fromNativeAmount: nativeAmount('40000000'), toNativeAmount: tapContext.request.nativeAmount },
            TILL
          )
        )
    })
    const wanted = [
      'swap',
      'run',
      ...swapRequest().slice(0, 4),
      ...swapRequest().slice(6),
      '--amount',
      '0.009 LTC',
      '--for',
      'to'
    ]
    const query = (...flags: string[]): Promise<Ran> => runWith([dear])(...wanted, ...flags, '--json')
    const open = failed(t, await query('--yes', '--again', '--min-receive', '0.009'), 'USAGE', 2)
    t.regex(open.error.message, /--max-pay/)
    const over = await query('--yes', '--again', '--min-receive', '0.009', '--max-pay', '0.01 BTC')
    t.regex(failed(t, over, 'MIN_RECEIVE', 36).error.hint, /0\.009 LTC for 0\.4 BTC from Dear shop/)
    const requested = failed(t, await query(), 'CONFIRMATION_REQUIRED', 5)
    t.regex(requested.error.next[0].command, / --min-receive '0\.009 LTC' --max-pay '0\.4 BTC' --yes$/)
    t.deepEqual([orders, await txCount()], before)
  }
)

test.serial(
  'swap run --yes pays the best quote within the limits, and swap history lists the order',
  async t => {
    const ran = await run(
      'swap',
      'run',
      ...swapRequest(),
      '--yes',
      '--again',
      '--min-receive',
      '0.009 LTC',
      '--json'
    )
    const { data } = succeeded(t, ran, 'swap.run/1')
    t.is(orders, 1)
    t.regex(data.txid, /^[0-9a-f]{64}$/)
    t.like(data, { orderId: 'order-1', orderUri: 'https://firm.example/1', destinationAddress: TILL })
    t.regex(ran.stderr, /swap with +Firm shop \(CEX\)\n[\s\S]*receive +0\.009 LTC\n/)
    await runInProcess(['fake', 'chain', 'mine'], { home })
    const { swaps } = await dataOf('swap', 'history')
    t.is(swaps.length, 1)
    t.like(swaps[0], { txid: data.txid, plugin: { id: 'firm', name: 'Firm shop' }, estimate: false })
    t.like(swaps[0], { orderId: 'order-1', orderUri: 'https://firm.example/1', state: 'confirmed' })
    t.like(swaps[0].payout, { native: '900000', display: '0.009', code: 'LTC' })
    t.like(swaps[0], { supportEmail: 'help@firm.example' })
    t.is((await dataOf('swap', 'history', '--wallet', 'Lite')).swaps.length, 0)
    t.is((await dataOf('swap', 'history', '--since', '2099-01-01')).swaps.length, 0)
    const row = (await run('swap', 'history')).stdout
    t.regex(row, /\t~?0\.009 LTC\tFirm shop\tconfirmed\torder-1\thttps:\/\/firm\.example\/1\t/)
    t.is((await dataOf('tx', 'show', 'Savings', data.txid)).tx.metadata.name, 'Firm shop')
  }
)

test.serial(
  'swap history asks the exchange how far an order is, and does not take its word for a payout',
  async t => {
    const orderNow = async () => (await dataOf('swap', 'history')).swaps[0].order
    t.like(await orderNow(), { state: 'waiting', payoutTxid: null, hasArrived: null, isFollowed: true })
    sayOfOrder = () => {
      throw new WalletError('SERVER', { message: 'Firm shop answered with status 503' })
    }
    const away = await run('swap', 'history', '--json')
    t.like(away.json.data.swaps[0].order, { state: 'waiting', isFollowed: true })
    t.regex(away.json.data.swaps[0].order.failure, /status 503/)
    t.regex(JSON.stringify(away.json.warnings), /Firm shop.*status 503.*shown as it was last/)
    sayOfOrder = () => ({ state: 'late' })
    t.regex(
      (await run('swap', 'history')).stdout,
      /\tended before it was paid: ask Firm shop, help@firm\.example\n/
    )
    const payoutTxid = 'ab'.repeat(32)
    sayOfOrder = () => ({ state: 'paidOut', payoutTxid })
    const paidOut = { state: 'paidOut', payoutTxid, hasArrived: false, isFollowed: false, failure: null }
    t.like(await orderNow(), paidOut)
    sayOfOrder = () => ({ state: 'waiting' })
    t.like(await orderNow(), paidOut)
    t.regex((await run('swap', 'history')).stdout, /\tpaid out, txid (?:ab){32}, not in the wallet yet\n/)
  }
)

test.serial(
  'Ctrl-C while a payment is signed and sent reports its result, or that it may have been sent',
  async t => {
    const args = [
      'swap',
      'run',
      ...swapRequest(),
      '--yes',
      '--again',
      '--min-receive',
      '0.009',
      '--json',
      '--secrets-stdin'
    ]
    const startSigning = async (
      signs: (release: Promise<void>) => Promise<void>,
      options: Pick<InProcessOptions, 'payingGraceMs'> = {}
    ) => {
      let receive = (): void => {}
      const isSigning = new Promise<void>(resolve => {
        receive = resolve
      })
      let release = (): void => {}
      const isReleased = new Promise<void>(resolve => {
        release = resolve
      })
      const policy: PolicyPlugin = {
        id: 'slow-hand',
        kind: 'policy',
        apply: ({ hooks }) =>
          hooks.beforeSign.tapPromise('', () => {
            receive()
            return signs(isReleased)
          })
      }
      const command = startInProcess(args, { home, input, plugins: [firm, policy], ...options })
      await isSigning
      const ending = command.stop()
      release()
      return ending
    }
    const before = await txCount()
    const { data } = succeeded(t, await startSigning(release => release), 'swap.run/1')
    t.regex(data.txid, /^[0-9a-f]{64}$/)
    t.is(await txCount(), before + 1)
    const refused = await startSigning(async release => {
      await release
      throw new Error('not today')
    })
    t.is(
      failed(t, refused, 'SIGN_REFUSED', 36).error.message,
      'The policy slow-hand refused to sign: not today'
    )
    const unknown = await startSigning(() => new Promise(() => {}), { payingGraceMs: 50 })
    t.regex(failed(t, unknown, 'INTERRUPTED', 130).error.message, /it may have been sent$/)
    t.is(await txCount(), before + 1)
  }
)

test.serial('an order that costs more than the quote is refused, and nothing is sent', async t => {
  const before = await txCount()
  const greedy = makeShop({
    id: 'greedy',
    displayName: 'Greedy shop',
    answer: tapContext =>
      tapContext.offer(
        offerOf(tapContext, {
          payment: {
            order: async () => ({
              spends: [
                {
                  tokenId: null,
                  spendTargets: [{ publicAddress: TILL, nativeAmount: nativeAmount('2000000') }]
                }
              ],
              fromNativeAmount: nativeAmount('2000000'),
              toNativeAmount: nativeAmount('900000')
            })
          }
        })
      )
  })
  const ran = await runWith([greedy])(
    'swap',
    'run',
    ...swapRequest(),
    '--yes',
    '--again',
    '--min-receive',
    '0.009',
    '--json'
  )
  failed(t, ran, 'SWAP_CHANGED', 46)
  t.is(await txCount(), before)
})

test.serial(
  'Ctrl-C while quotes come, and while an order is made, ends with 130 and sends nothing',
  async t => {
    const before = await txCount()
    let receive = (): void => {}
    const isOrdering = new Promise<void>(resolve => {
      receive = resolve
    })
    let release = (): void => {}
    const hanging = makeShop({
      id: 'hanging',
      displayName: 'Hanging shop',
      answer: tapContext =>
        tapContext.offer(
          offerOf(tapContext, {
            payment: {
              order: async () => {
                receive()
                await new Promise<void>(resolve => {
                  release = resolve
                })
                return {
                  spends: [
                    {
                      tokenId: null,
                      spendTargets: [{ publicAddress: TILL, nativeAmount: nativeAmount('1000000') }]
                    }
                  ],
                  fromNativeAmount: nativeAmount('1000000'),
                  toNativeAmount: nativeAmount('900000')
                }
              }
            }
          })
        )
    })
    const args = [
      'swap',
      'run',
      ...swapRequest(),
      '--yes',
      '--again',
      '--min-receive',
      '0.009',
      '--json',
      '--secrets-stdin'
    ]
    const ordering = startInProcess(args, { home, input, plugins: [hanging] })
    await isOrdering
    const stopping = ordering.stop()
    // The provider answers after all, when nobody wants it any more.
    release()
    failed(t, await stopping, 'INTERRUPTED', 130)
    let query = (): void => {}
    const isRequested = new Promise<void>(resolve => {
      query = resolve
    })
    const mute = makeShop({
      id: 'mute',
      answer: () => {
        query()
        return new Promise(() => {})
      }
    })
    const pendingQuery = startInProcess(args, { home, input, plugins: [mute] })
    await isRequested
    failed(t, await pendingQuery.stop(), 'INTERRUPTED', 130)
    t.is(await txCount(), before)
  }
)

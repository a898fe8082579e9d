import test from 'ava'
import fc from 'fast-check'
import { nativeAmount, type QuoteContext, type SwapPlugin, WalletError } from '../../../kernel/index.ts'
import { likeList } from '../../helpers/like-list.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'
import { openSwapTable } from '../../helpers/swap-table.ts'

const never = (): Promise<never> => new Promise(() => {})
const below = (nativeMin: string) => (): Promise<never> =>
  Promise.reject(new WalletError('SWAP_BELOW_LIMIT', { pluginId: 'x', nativeMin, direction: 'from' }))

/** A provider that keeps its desk, so that a test can put offers on it when it wants. */
const makePatient = (
  id: string
): { plugin: SwapPlugin; tapContext(): QuoteContext; end(error?: unknown): void } => {
  let kept: QuoteContext | undefined
  let finish: (error?: unknown) => void = () => {}
  const plugin = makeShop({
    id,
    answer: tapContext => {
      kept = tapContext
      return new Promise<void>((resolve, reject) => {
        finish = error => (error === undefined ? resolve() : reject(error))
      })
    }
  })
  return {
    plugin,
    tapContext() {
      if (kept === undefined) throw new Error(`${id} was not asked`)
      return kept
    },
    end: error => finish(error)
  }
}

test('each provider is pending, resolved, failed or timed out, and every change is shown at once [4.33]', async t => {
  const patient = makePatient('patient')
  const { query, reported, clock, faults } = openSwapTable([
    makeShop({ id: 'prompt', isDex: true }),
    patient.plugin,
    makeShop({ id: 'refuses', answer: below('5000') }),
    makeShop({ id: 'hangs', answer: never })
  ])
  const round = query()
  const seen: string[][] = []
  round.subscribe(
    () => void seen.push(round.getSnapshot().providers.map(row => `${row.pluginId} ${row.state}`))
  )
  await clock.advance(0)
  await clock.advance(100)
  patient.tapContext().offer(offerOf(patient.tapContext(), { toNativeAmount: nativeAmount('950') }))
  await clock.advance(0)
  likeList(t, round.getSnapshot().providers, [
    {
      pluginId: 'patient',
      state: 'resolved',
      durationMs: 100,
      rankReason: 'a better rate',
      toNativeAmount: '950'
    },
    { pluginId: 'prompt', state: 'resolved', isDex: true, isEstimate: false, networkFee: '1' },
    { pluginId: 'hangs', state: 'pending' },
    { pluginId: 'refuses', state: 'failed', errorCode: 'SWAP_BELOW_LIMIT', limit: '5000', direction: 'from' }
  ])
  await clock.advance(30_000)
  t.deepEqual(seen.at(-1), ['patient resolved', 'prompt resolved', 'refuses failed', 'hangs timed out'])
  t.true(round.getSnapshot().isOver)
  t.deepEqual(
    reported.map(({ pluginId, state, rank }) => `${pluginId} ${state} ${rank ?? '-'}`),
    [
      ...['prompt', 'patient', 'refuses', 'hangs'].map(id => `${id} pending -`),
      ...['prompt resolved 1', 'refuses failed -'],
      // A better quote pushes the other one down, and observers are told of both.
      ...['patient resolved 1', 'prompt resolved 2', 'hangs timed out -']
    ]
  )
  t.deepEqual(faults, [])
  t.true(reported.every(({ request }) => request === round.getSnapshot().request))
  for (const snapshot of [round.getSnapshot(), ...reported]) {
    t.deepEqual(JSON.parse(JSON.stringify(snapshot)), { ...snapshot } as never)
  }
})

test('a round waits 20 seconds for those that have not answered, and no longer [9.17]', async t => {
  const { query, clock } = openSwapTable([makeShop(), makeShop({ id: 'hangs', answer: never })])
  const round = query()
  await clock.advance(19_999)
  t.false(round.getSnapshot().isOver)
  await clock.advance(1)
  t.true(round.getSnapshot().isOver)
  t.deepEqual(
    (await round.settled).map(({ pluginId }) => pluginId),
    ['shop']
  )
})

test('a round ends as soon as all providers have answered, whatever their taps do afterwards', async t => {
  const { query, clock } = openSwapTable([
    makeShop(),
    makeShop({ id: 'refuses', answer: below('5') }),
    makeShop({
      id: 'lingers',
      answer: tapContext => {
        tapContext.offer(offerOf(tapContext))
        return never()
      }
    })
  ])
  const round = query()
  await clock.advance(0)
  t.true(round.getSnapshot().isOver)
  t.is((await round.settled).length, 2)
  t.is(clock.timerCount, 1, 'only the deadline of the tap that lingers')
})

test('an offer replaces an expired one even if it is worse, and a valid one only if it is no worse', async t => {
  const streaming = makePatient('streaming')
  const slow = makePatient('slow')
  const { query, clock } = openSwapTable([streaming.plugin, slow.plugin])
  const round = query()
  await clock.advance(0)
  const offer = async (to: string, seconds: number): Promise<void> => {
    const tapContext = streaming.tapContext()
    tapContext.offer(
      offerOf(tapContext, {
        toNativeAmount: nativeAmount(to),
        expirationDate: new Date(clock.now() + seconds * 1000)
      })
    )
    await clock.advance(0)
  }
  const shown = (): string[] => round.quotes.map(({ toNativeAmount }) => toNativeAmount)
  await offer('900', 5)
  await offer('899', 60)
  t.deepEqual(shown(), ['900'])
  await clock.advance(5000)
  await offer('898', 60)
  t.deepEqual(shown(), ['898'])
  await offer('899', 60)
  t.deepEqual(shown(), ['899'])
  t.false(round.getSnapshot().isOver)
})

test('an offer that comes while the one before it is approved does not end the approval, nor show in its place', async t => {
  const streaming = makePatient('streaming')
  const slow = makePatient('slow')
  const { query, clock, from } = openSwapTable([streaming.plugin, slow.plugin])
  const round = query()
  await clock.advance(0)
  const tapContext = streaming.tapContext()
  tapContext.offer(offerOf(tapContext))
  await clock.advance(0)
  const [quote] = round.quotes
  const better = async (): Promise<boolean> => {
    tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount('950') }))
    await clock.advance(0)
    return true
  }
  const { transaction } = (await quote?.approve({ confirm: better })) ?? {}
  t.is(transaction?.swapData?.payoutNativeAmount, nativeAmount('900'))
  t.is(from.spent.length, 1)
  t.deepEqual(round.quotes, [quote])
  t.true(round.getSnapshot().isOver)
})

test('an unreadable error ends its provider and no other', async t => {
  const trap = Object.defineProperty(new Error('trap'), 'name', {
    get: () => {
      throw new Error('looked at')
    }
  })
  const { query, clock } = openSwapTable([
    makeShop({ id: 'trap', answer: () => Promise.reject(trap) }),
    makeShop()
  ])
  const round = query()
  await clock.advance(0)
  t.true(round.getSnapshot().isOver)
  t.deepEqual(
    round.getSnapshot().providers.map(({ pluginId, state }) => [pluginId, state]),
    [
      ['shop', 'resolved'],
      ['trap', 'failed']
    ]
  )
})

test('a round ends when the caller stops it: it keeps the quotes so far, and aborts the contexts', async t => {
  const late = makePatient('late')
  const { query, clock } = openSwapTable([makeShop(), late.plugin])
  const round = query({}, { waitMs: 60_000 })
  await clock.advance(5)
  let aborts = 0
  late.tapContext().signal.addEventListener('abort', () => {
    aborts += 1
    throw new Error('a listener of a plugin')
  })
  t.false(late.tapContext().signal.aborted)
  round.stop()
  round.stop()
  t.is(aborts, 1)
  t.true(late.tapContext().signal.aborted)
  late.tapContext().offer(offerOf(late.tapContext(), { toNativeAmount: nativeAmount('999') }))
  late.end(new Error('aborted'))
  await clock.advance(0)
  t.deepEqual(
    (await round.settled).map(({ pluginId }) => pluginId),
    ['shop']
  )
  t.deepEqual(
    round.quotes.map(({ pluginId }) => pluginId),
    ['shop']
  )
  likeList(t, round.getSnapshot().providers, [
    { pluginId: 'shop', state: 'resolved' },
    { pluginId: 'late', state: 'timed out', errorCode: 'DEADLINE' }
  ])
})

test('without a quote after the wait it goes on until the first one, and past failures', async t => {
  const late = makePatient('late')
  const failing = makePatient('failing')
  const { query, clock } = openSwapTable([
    late.plugin,
    failing.plugin,
    makeShop({ id: 'hangs', answer: never })
  ])
  const round = query()
  await clock.advance(25_000)
  failing.end(new WalletError('SWAP_PERMISSION', { pluginId: 'failing', reason: 'geoRestriction' }))
  await clock.advance(1000)
  t.false(round.getSnapshot().isOver)
  const refused = round.getSnapshot().providers.find(({ pluginId }) => pluginId === 'failing')
  t.is(refused?.message, 'You are not allowed to make this trade: failing does not serve your country.')
  late.tapContext().offer(offerOf(late.tapContext()))
  t.true(round.getSnapshot().isOver)
  t.deepEqual(
    (await round.settled).map(({ pluginId }) => pluginId),
    ['late']
  )
})

test('with only failures the round rejects with the most useful one, at once when all have failed', async t => {
  const { query, clock, faults } = openSwapTable([
    makeShop({
      id: 'one',
      answer: () => Promise.reject(new WalletError('SWAP_PERMISSION', { pluginId: 'one' }))
    }),
    makeShop({ id: 'two', answer: below('70') }),
    makeShop({ id: 'three', answer: below('30') })
  ])
  const round = query()
  const failed = t.throwsAsync(round.settled, { code: 'SWAP_BELOW_LIMIT' })
  await clock.advance(0)
  const { details } = (await failed) as WalletError
  t.deepEqual(details, { pluginId: 'three', nativeMin: '30', direction: 'from' })
  t.deepEqual(faults, [])
  t.deepEqual(round.quotes, [])
})

test('a provider that never answers times out after 60 seconds, and the round with it', async t => {
  const { query, clock } = openSwapTable([
    makeShop({ id: 'hangs', answer: never }),
    makeShop({ id: 'refuses', answer: () => Promise.reject(new Error('no')) })
  ])
  const round = query()
  const failed = t.throwsAsync(round.settled)
  await clock.advance(59_999)
  t.false(round.getSnapshot().isOver)
  await clock.advance(1)
  t.true(round.getSnapshot().isOver)
  likeList(t, round.getSnapshot().providers, [
    { pluginId: 'hangs', state: 'timed out', durationMs: 60_000 },
    { pluginId: 'refuses', state: 'failed', errorCode: 'PLUGIN_FAILED' }
  ])
  await failed
  t.is(clock.timerCount, 0)
})

test('a plugin that throws at once, offers garbage, nothing or twice, harms no other', async t => {
  const { query, clock, faults } = openSwapTable([
    makeShop({
      id: 'throws',
      answer: () => {
        throw new TypeError('x is undefined')
      }
    }),
    makeShop({ id: 'garbage', answer: tapContext => tapContext.offer({ toNativeAmount: 'NaN' } as never) }),
    makeShop({
      id: 'hides',
      answer: tapContext => {
        try {
          tapContext.offer(null as never)
        } catch {
          // It does not say.
        }
      }
    }),
    makeShop({ id: 'mute', answer: () => {} }),
    makeShop({
      id: 'twice',
      answer: tapContext => {
        tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount('800') }))
        tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount('850') }))
        tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount('700') }))
        throw new Error('and then it fails')
      }
    }),
    makeShop()
  ])
  const round = query()
  await clock.advance(0)
  const quotes = await round.settled
  t.deepEqual(
    quotes.map(({ pluginId, toNativeAmount }) => `${pluginId} ${toNativeAmount}`),
    ['shop 900', 'twice 850']
  )
  likeList(t, round.getSnapshot().providers.slice(2), [
    { pluginId: 'throws', errorCode: 'PLUGIN_FAILED', state: 'failed' },
    { pluginId: 'garbage', errorCode: 'BOGUS_DATA', state: 'failed' },
    { pluginId: 'hides', errorCode: 'BOGUS_DATA', state: 'failed' },
    { pluginId: 'mute', errorCode: 'PLUGIN_FAILED', state: 'failed' }
  ])
  t.deepEqual(faults.map(({ pluginId }) => pluginId).sort(), ['garbage', 'throws', 'twice'])
})

test('a plugin with two taps has failed only when both have ended, and a quote of either counts', async t => {
  const double = (id: string, isGood: boolean): SwapPlugin => ({
    kind: 'swap',
    id,
    displayName: id,
    apply({ hooks }) {
      hooks.fetchQuotes.tapPromise('', () => Promise.reject(new Error('first')))
      hooks.fetchQuotes.tapPromise('', async tapContext => {
        await new Promise(resolve => setImmediate(resolve))
        if (isGood) tapContext.offer(offerOf(tapContext))
        else throw new Error('second')
      })
    }
  })
  const { query, clock } = openSwapTable([double('good', true), double('bad', false)])
  const round = query()
  await clock.advance(0)
  t.deepEqual(
    (await round.settled).map(({ pluginId }) => pluginId),
    ['good']
  )
  likeList(t, round.getSnapshot().providers.slice(1), [{ pluginId: 'bad', state: 'failed' }])
})

test('an offer of a failed provider does not count, though others are still pending', async t => {
  const patient = makePatient('patient')
  const { query, clock } = openSwapTable([patient.plugin, makeShop({ id: 'hangs', answer: never })])
  const round = query()
  await clock.advance(0)
  patient.end(new Error('no luck'))
  await clock.advance(0)
  patient.tapContext().offer(offerOf(patient.tapContext()))
  await clock.advance(0)
  t.deepEqual(round.quotes, [])
  t.deepEqual(
    round.getSnapshot().providers.map(({ pluginId, state }) => `${pluginId} ${state}`),
    ['hangs pending', 'patient failed']
  )
  round.close()
})

test('no quote that arrived in time is ever lost, in whatever order answers, failures and the end come', async t => {
  const event = fc.record({
    kind: fc.constantFrom('offer', 'fail', 'better', 'hang'),
    at: fc.integer({ min: 0, max: 30_000 })
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 6 }),
      fc.option(fc.integer({ min: 0, max: 30_000 }), { nil: undefined }),
      async (events, stopAt) => {
        const providerStates = events.map(({ kind, at }, index) => ({
          kind,
          at,
          ...makePatient(`p${index}`)
        }))
        const { query, clock } = openSwapTable(providerStates.map(({ plugin }) => plugin))
        const round = query()
        const settled = round.settled.then(
          quotes => quotes.map(({ pluginId }) => pluginId),
          () => []
        )
        const inTime = new Set<string>()
        const steps = [
          ...providerStates.map(provider => ({
            at: provider.at,
            run() {
              if (provider.kind === 'hang') return
              if (provider.kind === 'fail') return provider.end(new Error('no'))
              if (!round.getSnapshot().isOver) inTime.add(provider.plugin.id)
              provider.tapContext().offer(offerOf(provider.tapContext()))
              if (provider.kind === 'better')
                provider
                  .tapContext()
                  .offer(offerOf(provider.tapContext(), { toNativeAmount: nativeAmount('999') }))
              provider.end()
            }
          })),
          ...(stopAt === undefined ? [] : [{ at: stopAt, run: () => round.stop() }])
        ].sort((one, other) => one.at - other.at)
        let now = 0
        for (const { at, run } of steps) {
          await clock.advance(at - now)
          now = at
          run()
        }
        await clock.advance(60_000)
        t.deepEqual((await settled).toSorted(), [...inTime].sort())
        const first = Math.min(
          ...providerStates.filter(({ kind }) => ['offer', 'better'].includes(kind)).map(({ at }) => at)
        )
        if (first < (stopAt ?? Number.POSITIVE_INFINITY)) t.true(inTime.size > 0)
      }
    ),
    { numRuns: 60 }
  )
})

test('a policy may reorder the quotes, and only a result with each of them once counts', async t => {
  const plugins = ['a', 'b', 'c'].map((id, at) =>
    makeShop({
      id,
      answer: tapContext =>
        tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount(String(900 - at)) }))
    })
  )
  const orderWith = async (policy: (ids: readonly { quoteId?: string }[]) => unknown) => {
    const { query, clock, hooks } = openSwapTable(plugins)
    hooks.rankQuotes.tap('policy', quotes => policy(quotes) as never)
    const round = query()
    await clock.advance(0)
    return (await round.settled).map(({ pluginId, rankReason }) => `${pluginId}: ${rankReason}`)
  }
  const own = ['a: a better rate', 'b: a better rate', 'c: undefined']
  t.deepEqual(await orderWith(quotes => quotes.toReversed()), [
    'c: placed here by a policy',
    'b: placed here by a policy',
    'a: undefined'
  ])
  for (const bad of [
    (quotes: readonly object[]) => quotes.slice(1),
    (quotes: readonly object[]) => quotes.map(() => quotes[0]),
    () => 'garbage',
    () => [null, undefined, 5],
    () => {
      throw new Error('no')
    }
  ])
    t.deepEqual(await orderWith(bad), own)
})

test('without an enabled provider a round is refused [8.70]', t => {
  const { query, settings } = openSwapTable([makeShop({ id: 'one' }), makeShop({ id: 'two' })])
  const none = { code: 'NO_SWAP_PROVIDERS', message: 'No swap providers enabled' }
  settings.set('one', { isEnabled: false })
  t.throws(() => query({}, { disabled: ['two'] }), none)
  settings.set('two', { needsActivation: true })
  t.throws(() => query(), none)
  settings.set('one', { isEnabled: true })
  t.deepEqual(
    query()
      .getSnapshot()
      .providers.map(({ pluginId }) => pluginId),
    ['one']
  )
  t.throws(() => openSwapTable([]).query(), none)
})

test('an asset is not swapped for itself within one wallet [8.37]', t => {
  const { query, from } = openSwapTable([makeShop()], {
    gold: { currencyCode: 'GLD', displayName: 'Gold', denominations: [{ name: 'GLD', multiplier: '10' }] }
  })
  const same = { code: 'SAME_CURRENCY', message: 'Wallets can not be the same currency' }
  t.throws(() => query({ toWallet: from }), same)
  t.throws(() => query({ toWallet: from, fromTokenId: 'gold', toTokenId: 'gold' }), same)
  t.deepEqual(query({ toWallet: from, toTokenId: 'gold' }).getSnapshot().request, {
    fromWalletId: 'alpha-wallet',
    fromPluginId: 'alphacoin',
    fromTokenId: null,
    fromCurrencyCode: 'ALP',
    toWalletId: 'alpha-wallet',
    toPluginId: 'alphacoin',
    toTokenId: 'gold',
    toCurrencyCode: 'GLD',
    nativeAmount: '1000',
    quoteFor: 'from'
  })
})

test('an invalid request is refused before any provider is called', t => {
  let requested = 0
  const { query } = openSwapTable([
    makeShop({
      answer: () => {
        requested += 1
      }
    })
  ])
  const amount = (text: string) => ({ nativeAmount: text as never })
  t.throws(() => query(amount('0')), { code: 'NO_AMOUNT_SPECIFIED' })
  t.throws(() => query(amount('-5')), { code: 'AMOUNT_INVALID' })
  t.throws(() => query(amount('1e5')), { code: 'AMOUNT_INVALID' })
  t.throws(() => query({ quoteFor: 'most' as never }), { code: 'OPTION_INVALID' })
  t.throws(() => query({ fromTokenId: 'toString' }), { code: 'TOKEN_NOT_FOUND' })
  t.throws(() => query({}, { waitMs: Number.NaN }), { code: 'OPTION_INVALID' })
  t.is(requested, 0)
  query({ quoteFor: 'max', ...amount('0') })
  t.is(requested, 1)
})

test('a closed round closes its quotes, and its contexts refuse further calls', async t => {
  const patient = makePatient('patient')
  const { query, clock, reported, service } = openSwapTable([makeShop(), patient.plugin])
  const round = query()
  await clock.advance(0)
  service.close()
  round.close()
  const [quote] = await round.settled
  t.is(quote?.fate, 'closed')
  await t.throwsAsync(async () => quote?.approve(), { code: 'QUOTE_ENDED' })
  await t.throwsAsync(patient.tapContext().depositTo(), { code: 'QUOTE_ENDED' })
  await t.throwsAsync(patient.tapContext().feeFor([]), { code: 'QUOTE_ENDED' })
  t.like(reported.at(-1), { pluginId: 'shop', fate: 'closed' })
  t.is(clock.timerCount, 1, 'only the deadline of the tap that does not end')
})

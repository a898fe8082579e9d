import test from 'ava'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { cacheList, makeAssetList } from '../../../plugins/swap/kit/asset-list.ts'
import { settingOf } from '../../../plugins/swap/kit/provider.ts'
import { ProviderClient } from '../../../plugins/swap/kit/provider-client.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { swapAssets } from '../../../testing/swap-lab.ts'

test('an asset is found by chain and contract, letters of either case, and the first of a name counts', t => {
  const list = makeAssetList(
    { bitcoin: { network: 'BTC', coin: 'btc' }, ethereum: { network: 'eth', coin: 'eth' } },
    [
      { network: 'btc', coin: 'BTC' },
      { network: 'btc', coin: 'btc', contract: undefined },
      { network: 'ETH', coin: 'fake', contract: '0x01' },
      { network: 'ETH', coin: 'USDC', contract: '0xa0b86991C6218B36C1D19D4A2E9EB0CE3606EB48' }
    ]
  )
  t.deepEqual(list.find(swapAssets.btc), { network: 'btc', coin: 'BTC' })
  t.is(list.find(swapAssets.usdc)?.coin, 'USDC')
  t.is(list.find(swapAssets.ltc), undefined)
  t.is(list.find(swapAssets.eth), undefined)
  t.is(list.find({ ...swapAssets.btc, tokenId: 'a' }), undefined)
  t.is(list.find({ ...swapAssets.btc, pluginId: 'toString' }), undefined)
})

test('a back-off lasts as long as the provider says, whatever happens to the system clock', async t => {
  const clock = makeFakeClock()
  let shift = 0
  let requested = 0
  const io = {
    clock: { ...clock, now: () => clock.now() + shift },
    fetch: async () => {
      requested += 1
      return { status: requested === 1 ? 429 : 200, headers: { 'retry-after': '60' }, text: '{}' }
    }
  }
  const client = new ProviderClient(io, { pluginId: 'shop', displayName: 'Shop' }, 'https://shop.example')
  await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' })
  for (shift of [86_400_000, -86_400_000])
    await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' }, String(shift))
  t.is(requested, 1)
  await clock.advance(60_000)
  t.true((await client.request({ path: '/list' })).isOk)
})

test('a back-off is an hour at most, and a refused key makes the plugin need activation', async t => {
  const clock = makeFakeClock()
  let status = 429
  const io = { clock, fetch: async () => ({ status, headers: { 'retry-after': '999999' }, text: '{}' }) }
  const client = new ProviderClient(io, { pluginId: 'shop', displayName: 'Shop' }, 'https://shop.example')
  await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' })
  status = 401
  await clock.advance(3_599_999)
  await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' })
  await clock.advance(1)
  const error = await t.throwsAsync(client.request({ path: '/list' }), { code: 'SWAP_PERMISSION' })
  t.deepEqual((error as WalletError).details, { pluginId: 'shop', reason: 'needsActivation' })
})

test('quotes use the old list while it is reloaded', async t => {
  const clock = makeFakeClock()
  let finish = (_value: number): void => {}
  const get = cacheList(
    clock,
    () =>
      new Promise<number>(resolve => {
        finish = resolve
      })
  )
  const first = get()
  finish(1)
  t.is(await first, 1)
  await clock.advance(3_600_001)
  t.is(await get(), 1)
  finish(2)
  await clock.advance(0)
  t.is(await get(), 2)
})

test('a list is kept for an hour; where a later load fails, the old one goes on for a day', async t => {
  const clock = makeFakeClock()
  let count = 0
  let isBroken = false
  const get = cacheList(clock, async () => {
    count += 1
    if (isBroken) throw new Error('broken')
    return count
  })
  t.deepEqual(await Promise.all([get(), get()]), [1, 1])
  await clock.advance(3_600_001)
  isBroken = true
  t.is(await get(), 1)
  await clock.advance(86_400_000)
  await t.throwsAsync(get(), { message: 'broken' })
  isBroken = false
  t.is(await get(), 4)
})

test('a setting of the user overrides that of the application, and text that fits into no header is ignored', t => {
  t.is(settingOf('apiKey', { apiKey: 'mine' }, { apiKey: 'theirs' }), 'mine')
  t.is(settingOf('apiKey', { apiKey: '' }, { apiKey: 'theirs' }), 'theirs')
  t.is(settingOf('apiKey', { apiKey: 'a\nb' }, {}), undefined)
  t.is(settingOf('apiKey', {}, { apiKey: 7 }), undefined)
  t.is(settingOf('toString', {}, {}), undefined)
})

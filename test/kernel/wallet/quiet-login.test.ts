import test from 'ava'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openToyHome, toyToken } from '../../helpers/toy-home.ts'

const TOKENS = { gold: toyToken('GOLD'), silver: toyToken('SILVER') }

test('a login that changes nothing writes nothing, in no repo and of no token', async t => {
  const disk = new Map<string, string>()
  const device = { storage: memoryStorage(disk) }
  const home = await openToyHome(t, { tokens: TOKENS, device })
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin', {
    name: 'Toys',
    enabledTokenIds: ['gold']
  })
  await home.clock.advance(70_000)
  const closing = home.kernel.close()
  await home.clock.advance(10_000)
  await closing
  const files = (): string[] => [...disk.keys()].filter(path => path.startsWith('repos/')).sort()
  const before = files()

  const again = await home.another({ tokens: TOKENS, device: { storage: memoryStorage(disk) } })
  const same = await again.account.openWallet(wallet.id)
  t.is(same.name, 'Toys')
  t.deepEqual(same.getSnapshot().detectedTokenIds, [])
  t.deepEqual(same.getSnapshot().enabledTokenIds, ['gold'])
  await again.clock.advance(500)
  t.is(same.engine.getSnapshot().state, 'started')
  t.deepEqual(files(), before)
})

test('account and wallet are synced and the login is refreshed every 30 s, and tokens saved once in 100 ms [9.24]', async t => {
  let writes = 0
  class CountedFiles extends Map<string, string> {
    override set(path: string, text: string): this {
      if (path.startsWith('repos/')) writes += 1
      return super.set(path, text)
    }
  }
  const { account, clock, world } = await openToyHome(t, {
    tokens: TOKENS,
    device: { storage: memoryStorage(new CountedFiles()) }
  })
  await clock.advance(100)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(60_000)
  let [syncs, refreshes] = [0, 0]
  world.server.traffic.onLine(({ path }) => {
    if (path.includes('/store/')) syncs += 1
    else if (path.includes('/v2/')) refreshes += 1
  })
  await clock.advance(600_000)
  // Two repos, each about every 30 s.
  t.true(syncs >= 36 && syncs <= 46)
  t.is(refreshes, 20)

  writes = 0
  const changes: Promise<void>[] = []
  for (let step = 0; step < 20; step++) {
    changes.push(wallet.changeEnabledTokenIds(step % 2 === 0 ? ['gold'] : ['silver']))
    await clock.advance(5)
  }
  await clock.advance(10)
  await Promise.all(changes)
  t.is(writes, 2)
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['silver'])
})

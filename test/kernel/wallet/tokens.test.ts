import test from 'ava'
import { Mutex } from '../../../kernel/base/mutex.ts'
import { Observable } from '../../../kernel/base/observable.ts'
import { Scheduler } from '../../../kernel/base/scheduler.ts'
import { type CurrencyWallet, nativeAmount, type WalletSnapshot } from '../../../kernel/index.ts'
import type { CurrencyConfigSnapshot } from '../../../kernel/types/currency.ts'
import { WalletTokens, type WalletTokensOptions } from '../../../kernel/wallet/tokens.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { likeList } from '../../helpers/like-list.ts'
import { openToyHome, toyToken } from '../../helpers/toy-home.ts'

const TOKENS = { gold: toyToken('GOLD'), silver: toyToken('SILVER'), tin: toyToken('TIN') }

const NO_CONFIG: CurrencyConfigSnapshot = {
  builtinTokens: TOKENS,
  areBuiltinTokensKnown: true,
  customTokens: {},
  allTokens: TOKENS,
  alwaysEnabledTokenIds: [],
  userSettings: {}
}

/** The tokens of a wallet over a map of files; every write is noted, and may be made to fail. */
const makeBench = (files: Map<string, string> = new Map(), config: Partial<CurrencyConfigSnapshot> = {}) => {
  const clock = makeFakeClock()
  const writes: string[] = []
  const reports: unknown[] = []
  const held: { reads?: Promise<void>; edits?: Promise<void> } = {}
  const hold = (what: keyof typeof held) => {
    let open = (): void => {}
    held[what] = new Promise(resolve => {
      open = () => {
        delete held[what]
        resolve()
      }
    })
    return { open: () => open() }
  }
  const bench = {
    ...{ clock, files, writes, reports, isFull: false },
    holdReads: () => hold('reads'),
    holdEdits: () => hold('edits')
  }
  const repo = {
    async getText(path: string) {
      const text = files.get(path)
      await held.reads
      return text
    },
    async write({ texts, expect }: { texts: Map<string, string>; expect: Map<string, string | undefined> }) {
      await held.edits
      if ([...expect].some(([path, text]) => files.get(path) !== text)) return { isStale: true }
      for (const [path, text] of texts) {
        if (bench.isFull) throw new Error('full')
        writes.push(text)
        files.set(path, text)
      }
      return { isStale: false }
    }
  }
  const state = new Observable<CurrencyConfigSnapshot>({ ...NO_CONFIG, ...config })
  const parts = {
    walletId: 'w',
    repo,
    disk: {},
    clock,
    scheduler: new Scheduler(clock),
    mutex: new Mutex(),
    config: state,
    report: (error: unknown) => void reports.push(error)
  } as unknown as WalletTokensOptions
  const tokens = new WalletTokens(parts, { tokensChanged() {} })
  return Object.assign(bench, { tokens, state })
}

/** The whole list: `t.like` would pass over what stands behind it. */
const enabledIn = (files: ReadonlyMap<string, string>): unknown =>
  JSON.parse(files.get('Tokens.json') ?? '{}').enabledTokenIds

const listsOf = (wallet: CurrencyWallet): unknown => {
  const { enabledTokenIds, detectedTokenIds } = wallet.getSnapshot()
  return [enabledTokenIds, detectedTokenIds]
}

const TEXT = '{"enabledTokenIds":["gold"],"detectedTokenIds":[]}'

test('reading tokens, and choosing what is chosen already, writes nothing', async t => {
  const bench = makeBench(new Map([['Tokens.json', TEXT]]))
  await bench.tokens.read()
  await bench.tokens.changeEnabled(['gold', 'unheard-of'])
  await bench.tokens.forgetDetected()
  t.deepEqual(bench.tokens.detect(['gold']), [])
  await bench.clock.advance(1000)
  t.deepEqual(bench.writes, ['{"enabledTokenIds":["gold"],"detectedTokenIds":["gold"]}'])
})

test('what an engine finds is not written before the file was read, nor over one that cannot be read', async t => {
  const unread = makeBench(new Map([['Tokens.json', TEXT]]))
  unread.tokens.detect(['tin'])
  await unread.clock.advance(1000)
  t.deepEqual(unread.writes, [])
  await unread.tokens.read()
  t.deepEqual(unread.tokens.enabledTokenIds, ['gold', 'tin'])

  const damaged = makeBench(new Map([['Tokens.json', '{"enabledTokenIds":7}']]))
  await damaged.tokens.read()
  t.deepEqual(damaged.tokens.detect(['tin']), ['tin'])
  await damaged.clock.advance(1000)
  t.deepEqual(damaged.writes, [])
  await damaged.tokens.changeEnabled(['silver'])
  t.deepEqual(enabledIn(damaged.files), ['silver'])
})

test('changes within 100 ms are one write, the first is not kept waiting, and nothing is lost at the close', async t => {
  const bench = makeBench()
  await bench.tokens.read()
  await bench.tokens.changeEnabled(['tin'])
  t.is(bench.writes.length, 1)
  const waiting = [
    bench.tokens.changeEnabled(['tin', 'gold']),
    bench.tokens.changeEnabled(['gold', 'silver'])
  ]
  await bench.clock.advance(99)
  t.is(bench.writes.length, 1)
  await bench.clock.advance(1)
  await Promise.all(waiting)
  t.deepEqual(bench.writes.slice(1), ['{"enabledTokenIds":["gold","silver"],"detectedTokenIds":[]}'])
  const last = bench.tokens.changeEnabled([])
  await bench.tokens.close()
  await last
  t.is(bench.writes.length, 3)
})

test('a choice that is taken back while it is being written is written too', async t => {
  const bench = makeBench(new Map([['Tokens.json', TEXT]]))
  await bench.tokens.read()
  const gate = bench.holdEdits()
  const on = bench.tokens.changeEnabled(['gold', 'tin'])
  await bench.clock.advance(0)
  const off = bench.tokens.changeEnabled(['gold'])
  gate.open()
  await bench.clock.advance(100)
  await Promise.all([on, off])
  t.deepEqual(enabledIn(bench.files), ['gold'])
})

test('a token that another device switched on is not lost by a choice made before its file was read', async t => {
  const bench = makeBench(new Map([['Tokens.json', TEXT]]))
  await bench.tokens.read()
  bench.files.set('Tokens.json', '{"enabledTokenIds":["gold","silver"],"detectedTokenIds":[]}')
  await bench.tokens.changeEnabled(['gold', 'tin'])
  t.deepEqual(enabledIn(bench.files), ['gold', 'silver', 'tin'])
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold', 'silver', 'tin'])
})

test('a reading that began before a choice was written does not undo it', async t => {
  const bench = makeBench(new Map([['Tokens.json', TEXT]]))
  await bench.tokens.read()
  const gate = bench.holdReads()
  const reading = bench.tokens.read()
  await bench.clock.advance(0)
  const choosing = bench.tokens.changeEnabled(['gold', 'tin'])
  await bench.clock.advance(100)
  gate.open()
  await Promise.all([reading, choosing])
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold', 'tin'])
  await bench.tokens.changeEnabled(['gold', 'silver', 'tin'])
  t.deepEqual(enabledIn(bench.files), ['gold', 'silver', 'tin'])
})

test('a token choice that cannot be saved is undone with an error; changes made meanwhile stay', async t => {
  const bench = makeBench(new Map([['Tokens.json', TEXT]]))
  await bench.tokens.read()
  bench.isFull = true
  const failing = bench.tokens.changeEnabled(['gold', 'tin'])
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold', 'tin'])
  await t.throwsAsync(failing, { message: 'full' })
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold'])
  bench.isFull = false
  const next = bench.tokens.changeEnabled(['silver'])
  await bench.clock.advance(100)
  await next
  t.is(bench.writes.at(-1), '{"enabledTokenIds":["silver"],"detectedTokenIds":[]}')
})

test('a choice that waits to be saved is made on top of what a sync brings', async t => {
  const bench = makeBench(new Map([['Tokens.json', TEXT]]))
  await bench.tokens.read()
  await bench.tokens.changeEnabled(['gold', 'tin'])
  const waiting = bench.tokens.changeEnabled(['tin'])
  bench.files.set(
    'Tokens.json',
    '{"more":1,"enabledTokenIds":["gold","silver","tin"],"detectedTokenIds":["silver"]}'
  )
  await bench.tokens.read()
  t.deepEqual(bench.tokens.enabledTokenIds, ['silver', 'tin'])
  await bench.clock.advance(100)
  await waiting
  t.is(bench.writes.at(-1), '{"more":1,"enabledTokenIds":["silver","tin"],"detectedTokenIds":["silver"]}')
})

test('the codes of an old file mean tokens, of the user first, and as soon as they are known', async t => {
  const custom = { mine: toyToken('TIN') }
  const old = new Map([['EnabledTokens.json', '["GOLD","TIN","LEAD"]']])
  const bench = makeBench(old, { customTokens: custom, allTokens: { ...TOKENS, ...custom } })
  await bench.tokens.read()
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold', 'mine'])
  const lead = { lead: toyToken('LEAD') }
  bench.state.update({ customTokens: { ...custom, ...lead }, allTokens: { ...TOKENS, ...custom, ...lead } })
  bench.tokens.configChanged()
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold', 'lead', 'mine'])
  t.deepEqual(bench.writes, [])
  await bench.tokens.changeEnabled(['gold'])
  t.is(bench.files.get('Tokens.json'), '{"enabledTokenIds":["gold"],"detectedTokenIds":[]}')
  t.true(bench.files.has('EnabledTokens.json'))
})

test('tokens that are on everywhere are on, and are not written as the choice of one wallet', async t => {
  const bench = makeBench(new Map(), { alwaysEnabledTokenIds: ['tin', 'unheard-of'] })
  await bench.tokens.read()
  t.deepEqual(bench.tokens.enabledTokenIds, ['tin'])
  await bench.tokens.changeEnabled(['tin', 'gold'])
  t.deepEqual(enabledIn(bench.files), ['gold'])
  t.deepEqual(bench.tokens.enabledTokenIds, ['gold', 'tin'])
})

test('while a plugin has not said which tokens it has, those of the file count as known, in the letters they have', async t => {
  const text = '{"enabledTokenIds":["0xAb","lead"],"detectedTokenIds":[]}'
  const unknown = { builtinTokens: {}, allTokens: {}, areBuiltinTokensKnown: false }
  const bench = makeBench(new Map([['Tokens.json', text]]), unknown)
  await bench.tokens.read()
  t.deepEqual(bench.tokens.enabledTokenIds, ['0xAb', 'lead'])
  await bench.tokens.changeEnabled(['0xAb', 'lead', 'tin'])
  t.deepEqual(enabledIn(bench.files), ['0xAb', 'lead', 'tin'])
  bench.state.update({ builtinTokens: TOKENS, allTokens: TOKENS, areBuiltinTokensKnown: true })
  bench.tokens.configChanged()
  t.deepEqual(bench.tokens.enabledTokenIds, ['tin'])
})

test('only tokens of the currency are on; others in the file are kept, and on once they are known [5.22]', async t => {
  const { account, clock, toy } = await openToyHome(t, { tokens: TOKENS })
  await clock.advance(100)
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { enabledTokenIds: ['gold', 'lead'] })
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['gold'])
  await clock.advance(100)
  t.deepEqual(toy.requests[0]?.enabledTokenIds, ['gold'])
  await wallet.changeEnabledTokenIds(['silver', 'constructor'])
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['silver'])
  await account.currencyConfig('toycoin').addCustomToken(toyToken('LEAD'))
  await clock.advance(100)
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['lead', 'silver'])
})

test('found tokens are saved, new ones are enabled and reported once, and another device has them after a sync', async t => {
  const reported: unknown[] = []
  const shown: (readonly string[])[] = []
  const home = await openToyHome(t, {
    tokens: TOKENS,
    device: {
      plugins: [
        {
          kind: 'observer',
          id: 'watch',
          apply({ hooks }) {
            hooks.tokensDetected.tap('watch', ({ tokenIds }) => void reported.push(tokenIds))
            hooks.walletChanged.tap('watch', ({ enabledTokenIds }) => void shown.push(enabledTokenIds))
          }
        }
      ]
    }
  })
  await home.clock.advance(100)
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin', { enabledTokenIds: ['gold'] })
  await home.clock.advance(100)
  const count = shown.length
  const { callbacks } = home.toy.requests[0] ?? {}
  callbacks?.onNewTokens(['silver', 'gold'])
  callbacks?.onNewTokens(['silver'])
  callbacks?.onNewTokens([7] as never)
  t.deepEqual(reported, [['silver']])
  t.deepEqual(shown.slice(count), [['gold', 'silver']])
  t.deepEqual(listsOf(wallet), [
    ['gold', 'silver'],
    ['gold', 'silver']
  ])
  t.like(home.reports[0]?.[1], { code: 'BOGUS_DATA' })
  await home.clock.advance(1000)
  await wallet.changeEnabledTokenIds(['gold'])
  callbacks?.onNewTokens(['silver'])
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['gold'])
  await home.clock.advance(3000)

  const other = await home.another({ tokens: TOKENS })
  const same = await other.account.openWallet(wallet.id)
  t.deepEqual(listsOf(same), [['gold'], ['gold', 'silver']])
  await wallet.changeEnabledTokenIds(['tin'])
  await home.clock.advance(60_000)
  t.deepEqual(same.getSnapshot().enabledTokenIds, ['tin'])
})

test('observers get the denominations of a currency and of the tokens of a wallet', async t => {
  const currencies = new Map<string, unknown>()
  const reported: WalletSnapshot[] = []
  const home = await openToyHome(t, {
    tokens: TOKENS,
    device: {
      plugins: [
        {
          kind: 'observer',
          id: 'watch',
          apply({ hooks }) {
            hooks.pluginChanged.tap(
              'watch',
              ({ pluginId, currency }) => void currencies.set(pluginId, currency)
            )
            hooks.walletChanged.tap('watch', wallet => void reported.push(wallet))
          }
        }
      ]
    }
  })
  const { currencyCode, displayName, denominations, walletType } = home.toy.plugin.info
  t.deepEqual(currencies.get('toycoin'), { currencyCode, displayName, denominations, walletType })
  t.is(currencies.get('watch'), undefined)
  await home.clock.advance(100)
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin', { enabledTokenIds: ['silver'] })
  const { networkLocation, ...silver } = TOKENS.silver
  t.deepEqual(wallet.getSnapshot().tokens, [{ tokenId: 'silver', ...silver }])
  home.toy.requests[0]?.callbacks.onNewTokens(['gold'])
  const config = home.account.currencyConfig('toycoin')
  await config.addCustomToken({ ...toyToken('LEAD'), displayName: 'Heavy' })
  const changed = wallet.changeEnabledTokenIds(['lead', 'silver'])
  await home.clock.advance(1000)
  await changed
  // Gold was found, and is told of although it is off.
  t.deepEqual(
    reported.at(-1)?.tokens.map(token => token.displayName),
    ['Heavy', 'Token SILVER', 'Token GOLD']
  )
  const count = reported.length
  await config.changeCustomToken('lead', { ...toyToken('LEAD'), displayName: 'Plumbum' })
  await home.clock.advance(1000)
  t.deepEqual(
    reported.slice(count).map(({ tokens }) => tokens[0]?.displayName),
    ['Plumbum']
  )
})

test('the payment of a token, and its payee, bear the code of the token', async t => {
  const { account } = await openToyHome(t, {
    tokens: TOKENS,
    engine: good => ({
      makeSpend: async (spend, keys) => ({ ...(await good.makeSpend(spend, keys)), tokenId: spend.tokenId })
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { enabledTokenIds: ['gold'] })
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  for (const [tokenId, currencyCode] of [['gold', 'GOLD'] as const, [null, 'TOY'] as const]) {
    const draft = await wallet.makeSpend({ tokenId, spendTargets })
    t.like(draft, { tokenId, currencyCode })
    likeList(t, draft.spendTargets ?? [], [{ currencyCode }])
  }
})

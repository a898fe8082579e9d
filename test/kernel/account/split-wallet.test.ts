import type { ExecutionContext } from 'ava'
import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { type Account, type CurrencyWallet, nativeAmount, type Plugin } from '../../../kernel/index.ts'
import { splitWalletInfo } from '../../../kernel/keys/quirks.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { EngineRequest } from '../../../kernel/types/engine.ts'
import type { SpendInfo } from '../../../kernel/types/transaction.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { type KnownUser, makeKnownUser, type UserDevice } from '../../helpers/known-user.ts'
import { listedWallets } from '../../helpers/listed-wallets.ts'
import { makeToy, type ToyOptions, toyTransaction } from '../../helpers/toy-currency.ts'

const io = makeNodeIo()
const { toHex } = io.crypto

const ALREADY = { code: 'WALLET_ALREADY_SPLIT', message: 'This wallet has already been split' }

/** Toys that go by the names of a family of chains; what is paid is remembered. */
const makeFamily = (options: Omit<ToyOptions, 'id'> = {}) => {
  const spends: SpendInfo[] = []
  let count = 0
  const toyOf = (id: string, types: readonly string[] = []): Plugin =>
    makeToy({
      ...options,
      id,
      tools: {
        getSplittableTypes: async () => types,
        ...options.tools
      },
      engine: (good, request) => ({
        ...options.engine?.(good, request),
        async makeSpend(spend, keys) {
          spends.push(spend)
          const total = nativeAmount(spend.spendTargets[0]?.nativeAmount ?? '0')
          const draft = await good.makeSpend({ ...spend, spendTargets: [] }, keys)
          return { ...draft, nativeAmount: nativeAmount(`-${total}`), date: Date.now() / 1000 }
        },
        async signTx(tx, keys) {
          count += 1
          return { ...(await good.signTx(tx, keys)), txid: `split-${count}` }
        },
        getMaxSpendable: async () => '777'
      })
    }).plugin
  const plugins = [
    toyOf('sourcecoin', ['wallet:sidecoin', 'wallet:unheard-of']),
    toyOf('sidecoin', ['wallet:sourcecoin']),
    toyOf('bitcoincash', ['wallet:bitcoinsv']),
    toyOf('bitcoinsv')
  ]
  return { plugins, spends }
}

interface Home extends UserDevice {
  readonly disk: Map<string, string>
  readonly user: KnownUser
  readonly plugins: readonly Plugin[]
  readonly spends: SpendInfo[]
  readonly source: CurrencyWallet
}

const makeHome = async (t: ExecutionContext, type = 'wallet:sourcecoin'): Promise<Home> => {
  const family = makeFamily()
  const user = makeKnownUser(t)
  const disk = new Map<string, string>()
  const device = await user.logIn({ plugins: family.plugins, disk })
  const source = await device.account.createCurrencyWallet(type, {
    name: 'Savings',
    fiatCurrencyCode: 'iso:EUR'
  })
  return { user, ...family, ...device, disk, source }
}

const targetOf = async (account: Account, { id, type }: CurrencyWallet, newType: string) =>
  splitWalletInfo(io, { id, type, keys: await account.walletKeys.getRawPrivateKey(id) }, newType)

test('a split gives a wallet of the other type with the keys of the formula, the name and the fiat code', async t => {
  const { account, source, user, plugins } = await makeHome(t)
  const target = await targetOf(account, source, 'wallet:sidecoin')
  t.deepEqual(await account.listSplittableWalletTypes(source.id), ['wallet:sidecoin'])
  t.is(await account.splitWallet(source.id, 'wallet:sidecoin'), target.id)
  t.deepEqual(await account.walletKeys.getRawPrivateKey(target.id), target.keys)
  const wallet = await account.openWallet(target.id)
  t.like(wallet.getSnapshot(), { type: 'wallet:sidecoin', name: 'Savings', fiatCurrencyCode: 'iso:EUR' })
  t.deepEqual(await account.listSplittableWalletTypes(source.id), [])
  t.deepEqual(await account.listSplittableWalletTypes(target.id), [])
  await account.sync()
  const other = await user.logIn({ plugins })
  await other.account.sync()
  t.deepEqual(other.account.getSnapshot().activeWalletIds, [source.id, target.id])
})

test('a split onto an active wallet fails: "This wallet has already been split" [4.16] [8.73]', async t => {
  const { account, source } = await makeHome(t)
  const id = await account.splitWallet(source.id, 'wallet:sidecoin')
  await t.throwsAsync(account.splitWallet(source.id, 'wallet:sidecoin'), ALREADY)
  // Splitting back gives the wallet that it came from.
  await t.throwsAsync(account.splitWallet(id, 'wallet:sourcecoin'), ALREADY)
  await t.throwsAsync(account.splitWallet(source.id, 'wallet:sourcecoin'), ALREADY)
  t.is(listedWallets(account).length, 2)
})

test('splitting onto an existing archived or deleted wallet restores it: archived and deleted false, migration link cleared [4.15]', async t => {
  const { account, source, user } = await makeHome(t)
  const id = await account.splitWallet(source.id, 'wallet:sidecoin')
  const boxes = user.world.server.db.roots()[0]?.keyBoxes.length
  await (await account.openWallet(id)).rename('History')
  for (const states of [{ archived: true }, { deleted: true }, { archived: true, deleted: true }]) {
    const before = { ...states, hidden: true, sortIndex: 5, migratedFromWalletId: source.id }
    await account.changeWalletStates({ [id]: before })
    t.false(account.getSnapshot().activeWalletIds.includes(id))
    t.deepEqual(await account.listSplittableWalletTypes(source.id), ['wallet:sidecoin'])
    t.is(await account.splitWallet(source.id, 'wallet:sidecoin'), id)
    const listing = listedWallets(account).find(({ walletId }) => walletId === id)
    t.like(listing, { archived: false, deleted: false, hidden: true, sortIndex: 5 })
    t.is(listing?.migratedFromWalletId, undefined)
    t.is((await account.openWallet(id)).name, 'History')
  }
  await account.sync()
  t.deepEqual(user.read(user.repo, user.statesPath(id)), {
    id,
    archived: false,
    deleted: false,
    hidden: true,
    sortIndex: 5
  })
  t.is(user.world.server.db.roots()[0]?.keyBoxes.length, boxes)
})

test('an unknown wallet id: "Invalid wallet id ..." or "Invalid wallet: ... not found" [5.26]', async t => {
  const { account } = await makeHome(t)
  const invalid = { code: 'WALLET_ID_INVALID', message: 'Invalid wallet id nothing' }
  await t.throwsAsync(account.splitWallet('nothing', 'wallet:sidecoin'), invalid)
  await t.throwsAsync(account.listSplittableWalletTypes('nothing'), invalid)
  const notFound = { code: 'WALLET_NOT_FOUND', message: 'Invalid wallet: nothing not found' }
  await t.throwsAsync(account.getActivationAssets({ walletId: 'nothing' }), notFound)
  await t.throwsAsync(account.activateWallet({ walletId: 'nothing' }), notFound)
})

test('a wallet is split into a currency without a plugin, for the devices that have one', async t => {
  const { account, source } = await makeHome(t)
  const id = await account.splitWallet(source.id, 'wallet:unheard-of')
  t.deepEqual(
    listedWallets(account).map(({ walletId, type }) => [walletId, type]),
    [
      [source.id, 'wallet:sourcecoin'],
      [id, 'wallet:unheard-of']
    ]
  )
  const { dataKey } = await account.walletKeys.getRawPrivateKey(source.id)
  t.like(await account.walletKeys.getRawPrivateKey(id), { dataKey })
  await t.throwsAsync(account.splitWallet(source.id, 'wallet:unheard-of'), { code: 'WALLET_ALREADY_SPLIT' })
  await account.changeWalletStates({ [id]: { deleted: true } })
  t.is(await account.splitWallet(source.id, 'wallet:unheard-of'), id)
  t.false(listedWallets(account).find(({ walletId }) => walletId === id)?.deleted)
  await t.throwsAsync(account.splitWallet(source.id, ''), { code: 'OPTION_INVALID' })
})

test('a plugin that returns invalid split types is at fault, and one without a tap returns none', async t => {
  for (const answer of ['wallet:sidecoin', [5], {}]) {
    const family = makeFamily({ tools: { getSplittableTypes: async () => answer as never } })
    const { account } = await makeKnownUser(t).logIn({ plugins: family.plugins })
    const { id } = await account.createCurrencyWallet('wallet:sourcecoin')
    await t.throwsAsync(account.listSplittableWalletTypes(id), { code: 'BOGUS_DATA' })
  }
  const { account } = await makeKnownUser(t).logIn({ plugins: [makeToy().plugin] })
  const { id } = await account.createCurrencyWallet('wallet:toycoin')
  t.deepEqual(await account.listSplittableWalletTypes(id), [])
})

test('a split from a bip49 wallet: "Cannot split segwit-format Bitcoin wallets to Bitcoin Cash" [5.25]', async t => {
  const user = makeKnownUser(t)
  const { account } = await user.logIn({ plugins: makeFamily().plugins })
  for (const format of ['bip49', 'bip84', 'bip86']) {
    const { id } = await account.createCurrencyWallet('wallet:bitcoin', { keyOptions: { format } })
    await t.throwsAsync(account.splitWallet(id, 'wallet:bitcoincash'), {
      code: 'SPLIT_SEGWIT',
      message: 'Cannot split segwit-format Bitcoin wallets to Bitcoin Cash'
    })
  }
  const { id } = await account.createCurrencyWallet('wallet:bitcoin', { keyOptions: { format: 'bip44' } })
  const keys = await account.walletKeys.getRawPrivateKey(await account.splitWallet(id, 'wallet:bitcoincash'))
  t.is(keys.bitcoincashKey, (await account.walletKeys.getRawPrivateKey(id)).bitcoinKey)
  t.is(keys.bitcoinKey, undefined)
  t.is(keys.format, 'bip44')
})

test('splitting to BSV first sends 10000 units of BCH and then the rest to an own address, at high fee [9.25]', async t => {
  const { account, source, spends } = await makeHome(t, 'wallet:bitcoincash')
  const { publicAddress } = await source.getReceiveAddress()
  const id = await account.splitWallet(source.id, 'wallet:bitcoinsv')
  t.is(spends.length, 2)
  t.like(spends[0], { tokenId: null, networkFeeOption: 'high', metadata: { name: 'Replay Protection Tx' } })
  t.deepEqual(spends[0]?.spendTargets, [
    {
      publicAddress: '',
      nativeAmount: nativeAmount('10000'),
      otherParams: { script: { type: 'replayProtection' } }
    }
  ])
  t.like(spends[1], { tokenId: null, networkFeeOption: 'high', metadata: { name: 'Replay Protection Tx' } })
  t.deepEqual(spends[1]?.spendTargets, [{ publicAddress, nativeAmount: nativeAmount('777') }])
  t.is((await account.openWallet(id)).type, 'wallet:bitcoinsv')
  // A repeated split is no second payment, and not refused.
  t.is(await account.splitWallet(source.id, 'wallet:bitcoinsv'), id)
  t.is(spends.length, 2)
  t.is(listedWallets(account).length, 2)
})

test('a split of Bitcoin itself moves no coins', async t => {
  const family = makeFamily()
  const { account } = await makeKnownUser(t).logIn({ plugins: family.plugins })
  const { id } = await account.createCurrencyWallet('wallet:sourcecoin')
  const split = await account.splitWallet(id, 'wallet:bitcoinsv')
  t.is((await account.openWallet(split)).type, 'wallet:bitcoinsv')
  t.is(family.spends.length, 0)
})

test('a protecting payment no longer counts once it is dropped or older than a day', async t => {
  for (const stale of [{ blockHeight: -1 }, { date: Date.now() / 1000 - 25 * 3600 }]) {
    const engines: EngineRequest[] = []
    const family = makeFamily({
      engine(_, request) {
        if (request.walletInfo.type === 'wallet:bitcoincash') engines.push(request)
        return {}
      }
    })
    const { account } = await makeKnownUser(t).logIn({ plugins: family.plugins })
    const source = await account.createCurrencyWallet('wallet:bitcoincash')
    const id = await account.splitWallet(source.id, 'wallet:bitcoinsv')
    const sent = await source.getTransactions()
    t.is(sent.length, 2)
    engines[0]?.callbacks.onTransactionsChanged(
      sent.map(({ txid, date }) => toyTransaction(txid, { nativeAmount: nativeAmount('-1'), date, ...stale }))
    )
    const [first, second] = sent.map(({ txid }) => txid)
    const isStale = async (txid = ''): Promise<boolean> => {
      const { blockHeight, date } = await source.getTransaction(txid)
      return blockHeight < 0 || date < Date.now() / 1000 - 24 * 3600
    }
    await waitFor(async () => (await isStale(first)) && (await isStale(second)))
    t.is(await account.splitWallet(source.id, 'wallet:bitcoinsv'), id)
    t.is(family.spends.length, 4, JSON.stringify(stale))
  }
})

test('a wallet whose coins must move first and that cannot be opened: "Missing Wallet" [8.74]', async t => {
  const info = makeWalletInfo(io, 'wallet:bitcoincash', { toyKey: toHex(io.random(32)) })
  const { dataKey: _, ...keys } = info.keys
  const user = makeKnownUser(t, { infos: [{ ...info, keys: { ...keys, dataKey: 'AAAA' } }] })
  const { account } = await user.logIn({ plugins: makeFamily().plugins })
  await t.throwsAsync(account.splitWallet(info.id, 'wallet:bitcoinsv'), {
    code: 'WALLET_MISSING',
    message: 'Missing Wallet'
  })
  t.is(listedWallets(account).length, 1)
})

test('whichever step of a split fails, the split can be repeated: one wallet, one payment each, the settings kept', async t => {
  const steps: Record<string, (home: Home) => () => void> = {
    'the keys are not taken': ({ user }) =>
      user.world.server.use(async ({ path }, next) => {
        if (path === '/api/v2/login/keys') throw new Error('No')
        return next()
      }),
    'the answer is lost, and the question what became of it': ({ user }) => {
      let isLost = false
      return user.world.server.use(async ({ path }, next) => {
        const reply = await next()
        if (path === '/api/v2/login/keys') isLost = true
        if (isLost) throw new Error('Lost')
        return reply
      })
    },
    'the network is gone': ({ user }) => {
      user.world.setOnline(false)
      return () => user.world.setOnline(true)
    }
  }
  for (const [step, breakIt] of Object.entries(steps)) {
    for (const isKnownName of [false, true]) {
      const home = await makeHome(t, 'wallet:bitcoincash')
      const { account, source, spends } = home
      const target = await targetOf(account, source, 'wallet:bitcoinsv')
      const repair = breakIt(home)
      const error = await t.throwsAsync(account.splitWallet(source.id, 'wallet:bitcoinsv'), undefined, step)
      t.true(isWalletError(error, 'NETWORK'), `${step}: ${error}`)
      repair()
      if (isKnownName) await account.sync()
      t.is(await account.splitWallet(source.id, 'wallet:bitcoinsv'), target.id, step)
      t.is(spends.length, 2, step)
      const wallet = await account.openWallet(target.id)
      t.like(wallet.getSnapshot(), { name: 'Savings', fiatCurrencyCode: 'iso:EUR' }, step)
      t.is(listedWallets(account).length, 2, step)
    }
  }
})

test('a split that ended between the keys and the settings is finished when it is repeated, in a later session too', async t => {
  const { account, kernel, source, user, plugins, disk } = await makeHome(t)
  const target = await targetOf(account, source, 'wallet:sidecoin')
  user.world.server.use(async ({ path }, next) => {
    const reply = await next()
    if (path === '/api/v2/login/keys') void account.logout()
    return reply
  })
  await account.splitWallet(source.id, 'wallet:sidecoin').catch(() => {})
  await account.logout()
  await kernel.close()
  const again = await user.logIn({ plugins, disk })
  await again.account.sync()
  t.true(again.account.getSnapshot().activeWalletIds.includes(target.id))
  t.not((await again.account.openWallet(target.id)).name, 'Savings')
  t.is(await again.account.splitWallet(source.id, 'wallet:sidecoin'), target.id)
  const wallet = await again.account.openWallet(target.id)
  t.like(wallet.getSnapshot(), { name: 'Savings', fiatCurrencyCode: 'iso:EUR' })
  await t.throwsAsync(again.account.splitWallet(source.id, 'wallet:sidecoin'), ALREADY)
})

test('while a protecting payment may have been sent, a repeated split makes no other', async t => {
  let isBroken = true
  const family = makeFamily({
    engine: () => ({
      async broadcastTx(tx) {
        if (isBroken) throw new Error('no answer')
        return tx
      }
    })
  })
  const { account } = await makeKnownUser(t).logIn({ plugins: family.plugins })
  const source = await account.createCurrencyWallet('wallet:bitcoincash')
  await waitFor(() => source.engine.getSnapshot().state === 'started')
  const split = (): Promise<string> => account.splitWallet(source.id, 'wallet:bitcoinsv')
  await t.throwsAsync(split(), { code: 'BROADCAST_UNKNOWN' })
  await t.throwsAsync(split(), { code: 'BROADCAST_UNKNOWN' })
  t.is(family.spends.length, 1)
  isBroken = false
  await account.sync()
  await waitFor(() => source.unfinishedSpends().length === 0)
  await split()
  t.is(family.spends.length, 2)
})

test('two splits at once make one wallet', async t => {
  const { account, source } = await makeHome(t)
  const results = await Promise.allSettled(
    [1, 2, 3].map(() => account.splitWallet(source.id, 'wallet:sidecoin'))
  )
  t.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
  t.is(listedWallets(account).length, 2)
})

test('splits that a logout interrupts end with it', async t => {
  const { account, source } = await makeHome(t)
  const splits = ['wallet:sidecoin', 'wallet:bitcoinsv', 'wallet:bitcoincash'].map(type =>
    account.splitWallet(source.id, type)
  )
  await account.logout()
  for (const result of await Promise.allSettled(splits)) {
    if (result.status === 'rejected')
      t.true(isWalletError(result.reason, 'LOGGED_OUT'), String(result.reason))
  }
  await t.throwsAsync(account.walletKeys.getRawPrivateKey(source.id), { code: 'LOGGED_OUT' })
})

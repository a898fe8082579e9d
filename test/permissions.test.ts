import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { base58 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import test from 'ava'
import { makeFakeWorld } from '../fake-server/fake-world.ts'
import { base58Of } from '../kernel/crypto/encoding.ts'
import {
  type Disk,
  nativeAmount,
  type ObserverPlugin,
  type Plugin,
  type StoragePlugin,
  type SwapReview,
  WalletError
} from '../kernel/index.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { fileStorage } from '../plugins/storage/file/file-storage.ts'
import { memoryDisk } from '../plugins/storage/memory.ts'
import { openDevice, waitFor } from './helpers/device.ts'
import { formsOf } from './helpers/key-forms.ts'
import { makeToy, toyTransaction } from './helpers/toy-currency.ts'

const io = makeNodeIo()
const FOREIGN = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** An observer that keeps everything it is told. */
const makeSpy = (received: string[]): ObserverPlugin => ({
  kind: 'observer',
  id: 'spy',
  apply(host) {
    for (const [name, hook] of Object.entries(host.hooks)) {
      if ('tap' in hook) {
        hook.tap(
          'spy',
          ((...args: unknown[]) =>
            void received.push(`${name} ${JSON.stringify(args)} ${inspect(args, { depth: 20 })}`)) as never
        )
      }
    }
    received.push(inspect(host, { depth: 20 }))
  }
})

/** One plugin of each other kind that keeps its host and whatever it is given. */
const makeSpies = (received: string[]): Plugin[] => {
  const keep = (source: string, value: unknown): void => {
    received.push(`${source} ${inspect(value, { depth: 20, showHidden: true })}`)
  }
  return [
    {
      kind: 'rates',
      displayName: 'X',
      id: 'rate-spy',
      apply(host) {
        keep('rates host', host)
        host.hooks.fetchRates.tapPromise('x', async tapContext => keep('rates', tapContext))
      }
    },
    {
      kind: 'swap',
      id: 'swap-spy',
      displayName: 'Spy',
      apply(host) {
        keep('swap host', host)
        host.hooks.fetchQuotes.tapPromise('x', async tapContext => {
          keep('swap', tapContext)
          const { nativeAmount: amount } = tapContext.request
          const spends = [{ tokenId: null, spendTargets: [{ publicAddress: FOREIGN, nativeAmount: amount }] }]
          const networkFee = await tapContext.feeFor(spends)
          keep('swap', [await tapContext.depositTo(), await tapContext.refundTo(), networkFee])
          const order = { spends, fromNativeAmount: amount, toNativeAmount: amount }
          tapContext.offer({ ...order, isEstimate: false, networkFee, payment: { order: async () => order } })
        })
      }
    },
    {
      kind: 'policy',
      id: 'policy-spy',
      apply(host) {
        keep('policy host', host)
        host.hooks.beforeSign.tapPromise('x', async spend => keep('policy', spend))
      }
    }
  ]
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

test('known key bytes appear in no hook, log line, error, JSON or file, in any encoding', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-canary-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // What a kernel waits for keeps no process alive: after the network was away, the next try to connect.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const received: string[] = []
  const world = makeFakeWorld({ io })
  const password = 'canary password 7Q'
  const pin = '80815'
  const toy = makeToy({
    onCall: (method, args) => {
      if (method !== 'signTx') received.push(`engine ${method} ${inspect(args, { depth: 20 })}`)
    }
  })
  const options = {
    plugins: [makeSpy(received), ...makeSpies(received), toy.plugin],
    storage: fileStorage(folder),
    logLevel: 'debug' as const,
    onError: (source: string, error: unknown) => received.push(`${source} ${inspect(error, { depth: 20 })}`)
  }
  const kernel = await openDevice(world, options)
  const account = await kernel.context.createAccount({ username: 'canary', password, pin })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Nest' })
  const toyWallet = await account.createCurrencyWallet('wallet:toycoin')
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '100000')
  world.chain.mine()
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '100000')
  const request = {
    tokenId: null,
    spendTargets: [
      { publicAddress: (await toyWallet.getReceiveAddress()).publicAddress, nativeAmount: nativeAmount('5') }
    ]
  }
  await toyWallet.spend(await toyWallet.makeSpend(request))
  toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('t1'), { txid: 5 } as never])
  const own = await wallet.getReceiveAddress({ forceIndex: 1 })
  await wallet.spend(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: FOREIGN, nativeAmount: nativeAmount('20000') }],
      metadata: { notes: 'canary' }
    })
  )
  const quote = await account.fetchSwapQuote({
    fromWallet: wallet,
    toWallet: toyWallet,
    nativeAmount: nativeAmount('20000'),
    quoteFor: 'from'
  })
  const confirm = async (review: SwapReview): Promise<boolean> => {
    received.push(inspect(review, { depth: 20 }))
    return true
  }
  received.push(inspect([quote, await quote.approve({ confirm })], { depth: 20, showHidden: true }))
  const failures = [
    () => kernel.context.loginWithPassword('canary', `${password} wrong`),
    () => kernel.context.loginWithPIN({ username: 'canary' }, '11111'),
    () => kernel.context.loginWithKey({ username: 'canary' }, base58Of(new Uint8Array(32).fill(7))),
    () =>
      wallet.makeSpend({
        tokenId: null,
        spendTargets: [{ publicAddress: 'nonsense', nativeAmount: nativeAmount('5') }]
      }),
    () =>
      wallet.makeSpend({
        tokenId: null,
        spendTargets: [{ publicAddress: own.publicAddress, nativeAmount: nativeAmount('999999999') }]
      })
  ]
  for (const fail of failures) {
    const error = await t.throwsAsync<Error>(fail)
    received.push(inspect(error, { depth: 20 }), JSON.stringify(error), String(error?.stack))
  }
  const recoveryKey = await account.credentials.changeRecovery(
    ['Colour?', 'Tree?'],
    ['canary red', 'canary oak']
  )
  await account.twoFactor.enableOtp()
  const guest = await openDevice(world, { plugins: [makeSpy(received)] })
  const refused = await t.throwsAsync<WalletError<'OTP'>>(guest.context.loginWithPassword('canary', password))
  received.push(inspect(refused, { depth: 20 }), JSON.stringify([refused, { ...refused?.details }]))
  await guest.close()
  received.push(JSON.stringify([kernel.context.localUsers, kernel.context.getSnapshot()]))
  received.push(inspect(kernel.context.localUsers), inspect({ ...kernel.context.localUsers[0] }))
  world.setOnline(false)
  received.push(inspect(await t.throwsAsync(() => account.sync()), { depth: 20 }))
  world.setOnline(true)
  await account.sync()
  received.push(
    inspect(kernel, { depth: 20, showHidden: true }),
    inspect(account, { depth: 20 }),
    inspect(wallet, { depth: 20 })
  )

  const otpKey = account.twoFactor.getOtpKey()
  const { voucherAuth, resetToken } = refused?.details ?? {}
  const ofLogin = Object.entries({ recoveryKey, otpKey, voucherAuth, resetToken, answer: 'canary oak' })
  const loginKey = await account.getLoginKey()
  const walletKeys = await Promise.all(
    [wallet.id, toyWallet.id].map(id => account.walletKeys.getRawPrivateKey(id))
  )
  const byteKeys = walletKeys.flatMap(keys =>
    [keys.dataKey, keys.syncKey].map(key => io.crypto.fromBase64(String(key)))
  )
  const needles = new Map<string, string>()
  // The file of the login holds some of these in the clear, as its deployed format says.
  const needlesOfLogin = new Map<string, string>()
  for (const form of byteKeys.flatMap(formsOf)) needles.set(form, 'a data or sync key')
  const loginKeyBytes = base58.decode(loginKey)
  for (const form of formsOf(loginKeyBytes)) needles.set(form, 'the login key')
  const words = String(walletKeys[0]?.bitcoinKey)
  const seed = mnemonicToSeedSync(words)
  const root = HDKey.fromMasterSeed(seed)
  for (const form of [mnemonicToEntropy(words, wordlist), seed].flatMap(formsOf))
    needles.set(form, 'the seed')
  needles.set(root.privateExtendedKey, 'an extended private key')
  for (const path of ["m/84'/1'/0'", "m/84'/1'/0'/0/0"]) {
    const key = root.derive(path)
    needles.set(key.privateExtendedKey, 'an extended private key')
    for (const form of formsOf(key.privateKey ?? seed)) needles.set(form, `the private key of ${path}`)
  }
  for (const keys of walletKeys) {
    for (const name of ['bitcoinKey', 'toyKey'])
      if (keys[name] !== undefined) needles.set(String(keys[name]), name)
  }
  for (const [name, secret] of ofLogin) {
    t.is(typeof secret, 'string', name)
    if (secret !== undefined) needlesOfLogin.set(secret, `${name} of a login`)
  }
  needles.set(password, 'the password').set(`'${pin}'`, 'the PIN').set(`"${pin}"`, 'the PIN')
  await kernel.close()

  const text = received.join('\n')
  t.true(received.length > 100, 'the story was heard')
  t.true(text.includes('beforeSign') && text.includes('engineChanged') && text.includes('tapRan'))
  for (const [needle, what] of [...needles, ...needlesOfLogin])
    t.false(text.includes(needle), `${what} leaked into a hook, a log line or an error`)

  const files = filesBelow(folder)
  t.true(files.length > 5)
  for (const file of files) {
    const content = readFileSync(file, 'utf8')
    for (const [needle, what] of needles) t.false(content.includes(needle), `${what} leaked into ${file}`)
    t.is(statSync(file).mode & 0o777, 0o600, file)
  }
  await world.close()
})

test('an engine is given private keys only in the call that signs, or where its currency declares it [6.9]', async t => {
  const calls: { method: string; hasKeys: boolean }[] = []
  const declared = makeToy({
    id: 'declared',
    info: { needsKeysToSync: true, needsKeysToSpend: true, needsKeysToBroadcast: true },
    onCall: (method, args) =>
      calls.push({ method: `declared ${method}`, hasKeys: /toyKey/.test(inspect(args, { depth: 9 })) })
  })
  const plain = makeToy({
    id: 'plain',
    onCall: (method, args) =>
      calls.push({ method: `plain ${method}`, hasKeys: /toyKey/.test(inspect(args, { depth: 9 })) })
  })
  const world = makeFakeWorld({ io })
  const reported: string[] = []
  const observer: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.pluginChanged.tap(
        'watch',
        ({ pluginId, needsKeysTo }) => void reported.push(`${pluginId} ${needsKeysTo}`)
      )
  }
  const kernel = await openDevice(world, { plugins: [observer, declared.plugin, plain.plugin] })
  const account = await kernel.context.createAccount({})
  for (const id of ['declared', 'plain']) {
    const wallet = await account.createCurrencyWallet(`wallet:${id}`)
    const request = { tokenId: null, spendTargets: [{ publicAddress: 'x', nativeAmount: nativeAmount('5') }] }
    await wallet.spend(await wallet.makeSpend(request))
    await wallet.sync()
  }
  await kernel.close()
  const withKeys = new Set(calls.filter(({ hasKeys }) => hasKeys).map(({ method }) => method))
  t.deepEqual([...withKeys].sort(), [
    'declared broadcastTx',
    'declared makeSpend',
    'declared signTx',
    'declared syncNetwork',
    'plain signTx'
  ])
  for (const { walletInfo } of [...declared.requests, ...plain.requests]) {
    t.deepEqual(Object.keys(walletInfo.keys), ['address'])
  }
  t.true(reported.includes('declared sync,spend,broadcast') && reported.includes('plain '))
  await world.close()
})

test('no key is read while the disk cannot take the intent to spend', async t => {
  const world = makeFakeWorld({ io })
  const calls: string[] = []
  const toy = makeToy({ onCall: method => calls.push(method) })
  const disk = memoryDisk()
  let isFull = false
  const full: Disk = {
    ...disk,
    setText: (path, text) =>
      isFull ? Promise.reject(new WalletError('STORAGE_FULL', { path })) : disk.setText(path, text)
  }
  const storage: StoragePlugin = {
    kind: 'storage',
    id: 'full',
    apply: ({ hooks }) => hooks.openDisk.tapPromise('full', async () => full)
  }
  const kernel = await openDevice(world, { plugins: [toy.plugin], storage, onError: () => {} })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const request = { tokenId: null, spendTargets: [{ publicAddress: 'x', nativeAmount: nativeAmount('5') }] }
  const draft = await wallet.makeSpend(request)
  isFull = true
  await t.throwsAsync(wallet.spend(draft), { code: 'STORAGE_FULL' })
  t.false(calls.includes('signTx'))
  isFull = false
  await wallet.spend(draft)
  t.true(calls.includes('signTx'))
  await kernel.close()
  await world.close()
})

import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { WalletError } from '../../../kernel/base/errors.ts'
import {
  type CurrencyPlugin,
  type Io,
  nativeAmount,
  type ObserverPlugin,
  type PolicyPlugin,
  type RatePlugin
} from '../../../kernel/index.ts'
import { captureIo, rateIo, swapIo } from '../../../kernel/plugins/plugin-io.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice } from '../../helpers/device.ts'
import { makeShop } from '../../helpers/swap-shop.ts'
import { makeToy } from '../../helpers/toy-currency.ts'
import { openToyHome, toyToken } from '../../helpers/toy-home.ts'

const INTRINSICS: ReadonlySet<unknown> = new Set(
  [Object, Array, Function, Promise, Date, Map, Error, TypeError, Uint8Array].flatMap(made => [
    made,
    made.prototype
  ])
)

/** Every object and function that can be reached from a value, without what the language itself has. */
const reachable = (root: unknown, found = new Map<object, string>(), path = ''): Map<object, string> => {
  if ((typeof root !== 'object' && typeof root !== 'function') || root === null) return found
  if (found.has(root) || INTRINSICS.has(root)) return found
  found.set(root, path)
  for (const name of Reflect.ownKeys(root)) {
    const { value, get } = Reflect.getOwnPropertyDescriptor(root, name) ?? {}
    reachable(value ?? get, found, `${path}.${String(name)}`)
  }
  const prototype = Object.getPrototypeOf(root)
  if (typeof root !== 'function') reachable(prototype, found, `${path}.[[Prototype]]`)
  return found
}

const loose = (root: unknown): string[] =>
  [...reachable(root)]
    // A function of its own is shared with nobody; what it is called through is what counts.
    .filter(([value]) => typeof value !== 'function' && !Object.isFrozen(value))
    .map(([, path]) => path)

/** Puts `evil` in the place of everything that can be reached and is named so. */
const replaceAll = (root: unknown, names: readonly string[], evil: () => never): number => {
  let count = 0
  for (const value of reachable(root).keys()) {
    for (const name of names) {
      if (!Reflect.has(value, name)) continue
      for (const replace of [
        () => Reflect.set(value, name, evil),
        () => Reflect.defineProperty(value, name, { value: evil }),
        () => Reflect.deleteProperty(value, name)
      ]) {
        if (replace()) count += 1
      }
      Reflect.setPrototypeOf(value, null)
    }
  }
  return count
}

const NAMES = [
  ...['random', 'fetch', 'connect', 'webSocket', 'scrypt', 'sha256', 'hmacSha256', 'hmacSha1'],
  ...['aesCbcEncrypt', 'aesCbcDecrypt', 'toBase64', 'fromBase64', 'toHex', 'fromHex', 'writeUtf8'],
  ...['now', 'monotonic', 'after', 'turn', 'getText', 'setText', 'get', 'entries', 'write', 'hint', 'toJSON']
]

test('a plugin of each kind gets what its kind needs of the platform, and no more', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const hosts = new Map<string, object>()
  const take =
    (kind: string) =>
    (host: object): void =>
      void hosts.set(kind, host)
  const kernel = await openDevice(world, {
    plugins: [
      { ...makeToy().plugin, apply: take('currency') },
      { kind: 'rates', id: 'rates', displayName: 'Rates', apply: take('rates') },
      { kind: 'swap', id: 'swap', displayName: 'Swap', apply: take('swap') },
      { kind: 'policy', id: 'policy', apply: take('policy') },
      { kind: 'observer', id: 'observer', apply: take('observer') }
    ],
    pluginOptions: { rates: { nested: { list: [1] } } }
  })
  t.teardown(() => kernel.close())
  const io = (kind: string): Partial<Io> => (hosts.get(kind) as { io?: Io }).io ?? {}
  t.deepEqual(Object.keys(io('rates')), ['clock', 'fetch'])
  t.deepEqual(Object.keys(io('swap')), ['clock', 'fetch', 'crypto'])
  t.false('aesCbcDecrypt' in (io('swap').crypto ?? {}))
  t.true(Object.keys(io('currency')).includes('random'))
  for (const kind of ['policy', 'observer']) t.deepEqual(io(kind), {})
  for (const [kind, host] of hosts) t.deepEqual(loose(host), [], kind)
  t.not(io('rates').fetch, io('swap').fetch)
})

test('a rate plugin that replaces random numbers, requests and ciphers changes nothing for others', async t => {
  const evil = (): never => t.fail('The evil function was called') as never
  const attack: RatePlugin = {
    ...{ kind: 'rates', id: 'attack', displayName: 'Attack' },
    apply(host) {
      replaceAll([host, WalletError], NAMES, evil)
      host.hooks.fetchRates.tapPromise('attack', async tapContext => {
        replaceAll(
          [tapContext, tapContext.wanted, tapContext.signal],
          [...NAMES, 'offer', 'addEventListener'],
          evil
        )
      })
    }
  }
  const currencyAttack: CurrencyPlugin = {
    ...makeToy({
      id: 'attackcoin',
      engine: (_good, request) => {
        replaceAll(request, [...NAMES, 'onStatus'], evil)
        return {}
      }
    }).plugin
  }
  const { account, kernel, clock } = await openToyHome(t, { device: { plugins: [attack, currencyAttack] } })
  await account.createCurrencyWallet('wallet:attackcoin')
  await kernel.context.rates.refresh()
  await clock.advance(1000)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  const tx = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  t.true(tx.txid.length > 0)
  await account.sync()
  const keys = await account.walletKeys.getRawPrivateKey(wallet.id)
  t.regex(String(keys.toyKey), /^[0-9a-f]{64}$/)
})

test('what an application changes on its io after the start changes nothing for the kernel', async t => {
  const given = makeNodeIo()
  const world = makeFakeWorld({ io: makeNodeIo() })
  const io = { ...world.ioFor(given), crypto: { ...given.crypto } }
  const kernel = await openDevice(world, { io })
  t.teardown(() => kernel.close())
  const evil = (): never => t.fail('The evil function was called') as never
  Object.assign(io, { random: evil, fetch: evil })
  Object.assign(io.crypto, { sha256: evil, aesCbcEncrypt: evil, toBase64: evil })
  const account = await kernel.context.createAccount({})
  await t.notThrowsAsync(account.createCurrencyWallet('wallet:bitcoin'))
})

test('methods of a platform that is a class work in a captured io', t => {
  class Platform {
    readonly crypto = makeNodeIo().crypto
    readonly clock = makeNodeIo().clock
    readonly #bytes = 7
    random(count: number): Uint8Array {
      return new Uint8Array(count).fill(this.#bytes)
    }
    fetch(): never {
      throw new Error('no network')
    }
  }
  const { random } = captureIo(new Platform())
  t.deepEqual(random(2), new Uint8Array([7, 7]))
})

test('a captured io has every member of the crypto port, and cryptography that answers later works through it', async t => {
  const { crypto, ...given } = makeNodeIo()
  const later = {
    sha256: async (data: Uint8Array) => crypto.sha256(data),
    aesCbcDecrypt: async () => new Uint8Array([7])
  }
  const port = { ...crypto, async: later }
  const captured = captureIo({ ...given, crypto: port }).crypto
  t.deepEqual(Object.keys(captured).sort(), Object.keys(port).sort())
  const data = new Uint8Array([1, 2])
  t.deepEqual(await captured.async?.sha256(data), crypto.sha256(data))
  t.deepEqual(await captured.async?.aesCbcDecrypt(data, data, data), new Uint8Array([7]))
})

test('a timer or a connection of a plugin that throws is its fault, and ends nothing', async t => {
  const faults: string[] = []
  const observer: ObserverPlugin = {
    ...{ kind: 'observer', id: 'observer' },
    apply: ({ hooks }) =>
      hooks.pluginFault.tap('observer', ({ pluginId, hook }) => void faults.push(`${pluginId} ${hook}`))
  }
  const timers: RatePlugin = {
    ...{ kind: 'rates', id: 'timers', displayName: 'Timers' },
    apply({ io }) {
      io.clock.after(10, () => {
        throw undefined
      })
      io.clock.after(20, async () => {
        throw new Error('later')
      })
    }
  }
  const { clock } = await openToyHome(t, { device: { plugins: [observer, timers] } })
  await clock.advance(1000)
  t.deepEqual(faults, ['timers io', 'timers io'])
})

const watchAll = (received: Set<string>, found: Set<string>): ObserverPlugin => ({
  ...{ kind: 'observer', id: 'watcher' },
  apply({ hooks }) {
    for (const [name, hook] of Object.entries(hooks)) {
      if (!('tap' in hook)) continue
      hook.tap('watcher', (...args: unknown[]) => {
        received.add(name)
        for (const path of loose(args[0])) found.add(`${name}${path}`)
      })
    }
  }
})

test('all data for observers, policies, engines and providers is deeply frozen', async t => {
  const received = new Set<string>()
  const found = new Set<string>()
  const seen: [string, unknown][] = []
  const policy: PolicyPlugin = {
    ...{ kind: 'policy', id: 'policy' },
    apply({ hooks }) {
      hooks.beforeSign.tapPromise('policy', async spend => void seen.push(['beforeSign', spend]))
      hooks.rankQuotes.tap('policy', (quotes, request) => {
        seen.push(['rankQuotes', quotes], ['request', request])
        return undefined as never
      })
    }
  }
  const rates: RatePlugin = {
    ...{ kind: 'rates', id: 'rates', displayName: 'Rates' },
    apply({ hooks }) {
      hooks.fetchRates.tapPromise('rates', async tapContext => {
        seen.push(['rate desk', tapContext])
        tapContext.offer({ fromCurrency: 'TOY', toCurrency: 'iso:USD' }, 2)
      })
    }
  }
  const shop = makeShop({ id: 'shop', answer: tapContext => void seen.push(['quote desk', tapContext]) })
  const device = { plugins: [watchAll(received, found), policy, rates, shop] }
  const tokens = { aa: toyToken('AA') }
  const { account, kernel, toy, clock } = await openToyHome(t, { device, tokens })
  await account.currencyConfig('toycoin').changeUserSettings({ server: { name: 'x', ports: [1] } })
  await account
    .currencyConfig('toycoin')
    .addCustomToken(toyToken('BB'))
    .catch(() => {})
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { enabledTokenIds: ['aa'] })
  const other = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(1000)
  await kernel.context.rates.refresh()
  kernel.context.rates.convertCurrency('TOY', 'iso:USD')
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  const swapRequest = { fromWallet: wallet, toWallet: other, fromTokenId: null, toTokenId: 'aa' }
  const round = account.openQuoteRound({ ...swapRequest, nativeAmount: nativeAmount('5'), quoteFor: 'from' })
  await clock.advance(30_000)
  await round.settled.catch(() => {})
  round.close()
  await account.sync()
  await clock.advance(10_000)
  for (const request of toy.requests) seen.push(['engine request', request])
  for (const [what, value] of seen) for (const path of loose(value)) found.add(`${what}${path}`)
  t.deepEqual([...found], [])
  const names = new Set(seen.map(([what]) => what))
  t.deepEqual(
    ['beforeSign', 'rate desk', 'quote desk', 'engine request'].filter(name => !names.has(name)),
    []
  )
  t.true(received.has('walletChanged') && received.has('spendChanged') && received.has('ratesChanged'))
})

test('a source of rates and an exchange get no login that the application has for a server', async t => {
  const sent: unknown[] = []
  const io: Io = {
    ...makeNodeIo(),
    fetch: async (_url, options) => {
      sent.push(options?.withLogin)
      return { status: 200, headers: {}, text: '' }
    }
  }
  for (const made of [rateIo(io, () => {}), swapIo(io, () => {})]) {
    await made.fetch('http://127.0.0.1:8332/', { method: 'POST', withLogin: true })
    await made.fetch('http://127.0.0.1:8332/')
  }
  t.deepEqual(sent, [false, undefined, false, undefined])
})

import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type CurrencyWallet, isWalletError, nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { litecoin } from '../../plugins/currency/utxo/plugin.ts'
import { openDevice } from '../helpers/device.ts'
import { makeShop } from '../helpers/swap-shop.ts'

const io = makeNodeIo()

/** What a method takes: a sound value for each place. A name that ends in `?` may be left out. */
type Sound = unknown
type Methods = Readonly<Record<string, readonly Sound[] | 'takes nothing' | 'takes functions'>>

/** An argument that may be left out. */
class Optional {
  readonly value: Sound
  constructor(value: Sound) {
    this.value = value
  }
}
const optional = (value: Sound): Optional => new Optional(value)

const LISTENER: Methods = { subscribe: 'takes functions', getSnapshot: 'takes nothing' }
const USER = { username: 'alice' }
const HELP = { 'otp?': '123456', 'otpKey?': 'AAAA', 'challengeId?': 'x' }
const PAUSE = optional({ 'afterSeconds?': 1 })
const ASSET = { tokenId: null, spendTargets: [{ publicAddress: 'x', nativeAmount: '5' }] }
const KEY = `${'1'.repeat(31)}5`
/** A text, and beside it nothing but null. */
const TEXT_OR_NULL = Symbol('text or null')
const CONTEXT: Methods = {
  ...LISTENER,
  changePaused: [false, PAUSE],
  changeSyncPeriod: [60_000],
  usernameAvailable: ['bob'],
  verifyMessage: ['bitcoin', { message: 'x', address: 'y', signature: 'z' }],
  checkPasswordRules: ['secret'],
  createAccount: [
    { 'username?': 'bob', 'password?': 'correct horse', 'pin?': '1234', 'isDeviceOnly?': false }
  ],
  restoreAccount: ['no backup', { password: 'secret' }],
  loginWithPassword: ['alice', 'wrong', HELP],
  loginWithPIN: [USER, '9999', HELP],
  loginWithKey: [USER, KEY],
  loginWithRecovery2: [KEY, 'alice', ['red'], HELP],
  fetchRecovery2Questions: [KEY, 'alice'],
  listRecoveryQuestionChoices: 'takes nothing',
  requestOtpReset: ['alice', 'token'],
  fetchLoginMessages: 'takes nothing',
  requestEdgeLogin: [optional({ 'timeoutSeconds?': 5 })],
  forgetAccount: [{ username: 'nobody' }, { 'losesAccount?': true }],
  close: 'takes nothing'
}

const RATES: Methods = {
  ...LISTENER,
  convertCurrency: ['BTC', 'iso:USD', optional(5)],
  findRoute: ['BTC', 'iso:USD'],
  valueOf: ['5', '100000000', 'BTC', 'iso:USD'],
  pairs: 'takes nothing',
  want: 'takes functions',
  refresh: 'takes nothing',
  historicRate: [{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, new Date(0)],
  addHintSource: 'takes functions',
  changePaused: [false],
  close: 'takes nothing'
}

const RATE_HINTS: Methods = {
  list: 'takes nothing',
  add: [{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }],
  clear: 'takes nothing',
  // Of the service alone.
  addSource: 'takes functions',
  gather: 'takes nothing',
  remember: 'takes nothing',
  read: 'takes nothing',
  close: 'takes nothing'
}

const accountMethods = (wallet: CurrencyWallet): Methods => ({
  ...LISTENER,
  listWallets: 'takes nothing',
  changeWalletStates: [{}],
  openWallet: ['x', {}],
  wallet: ['x'],
  openAllWallets: 'takes functions',
  createWallet: ['wallet:none', {}],
  createCurrencyWallet: ['wallet:none', { 'name?': 'x', 'fiatCurrencyCode?': 'iso:USD', 'importText?': 'x' }],
  // Each wallet has a result of its own.
  createCurrencyWallets: [[{}]],
  listSplittableWalletTypes: ['x'],
  splitWallet: ['x', 'wallet:litecoin'],
  currencyConfig: ['bitcoin'],
  swapConfig: ['none'],
  getLoginKey: 'takes nothing',
  fetchLobby: ['x'],
  listRepos: 'takes nothing',
  sync: 'takes nothing',
  changePaused: [false, PAUSE],
  getActivationAssets: [{ activateWalletId: 'x', 'activateTokenIds?': ['x'] }],
  activateWallet: [{ activateWalletId: 'x', 'activateTokenIds?': ['x'] }],
  openQuoteRound: [{ fromWallet: wallet, toWallet: wallet, nativeAmount: '5', quoteFor: 'from' }, {}],
  fetchSwapQuotes: [{ fromWallet: wallet, toWallet: wallet, nativeAmount: '5', quoteFor: 'from' }, {}],
  fetchSwapQuote: [{ fromWallet: wallet, toWallet: wallet, nativeAmount: '5', quoteFor: 'from' }, {}],
  logout: 'takes nothing'
})

const CREDENTIALS: Methods = {
  changePassword: ['correct horse'],
  checkPassword: ['wrong'],
  deletePassword: 'takes nothing',
  getPIN: 'takes nothing',
  changePIN: [{ 'pin?': '1234', 'enableLogin?': true }],
  checkPIN: ['9999'],
  deletePIN: 'takes nothing',
  changeRecovery: [['Colour?'], ['red']],
  deleteRecovery: 'takes nothing',
  getRecoveryKey: 'takes nothing',
  changeUsername: [{ username: 'alice', 'password?': 'wrong' }],
  deleteRemoteAccount: 'takes nothing'
}

const TWO_FACTOR: Methods = {
  ...LISTENER,
  getOtpKey: 'takes nothing',
  getCode: 'takes nothing',
  enableOtp: [optional(5)],
  disableOtp: 'takes nothing',
  cancelOtpReset: 'takes nothing',
  repairOtp: ['AAAA'],
  approveVoucher: ['x'],
  rejectVoucher: ['x']
}

const WALLET_KEYS: Methods = {
  getRawPrivateKey: ['x'],
  getRawPublicKey: ['x'],
  getDisplayPrivateKey: ['x'],
  getDisplayPublicKey: ['x'],
  getKeyPaths: ['x']
}

const DATA_STORE: Methods = {
  listStoreIds: 'takes nothing',
  listItemIds: ['x'],
  getItem: ['x', 'y'],
  setItem: ['x', 'y', 'z'],
  deleteItem: ['x', 'y'],
  deleteStore: ['x'],
  close: 'takes nothing'
}

const WALLET: Methods = {
  balanceOf: [TEXT_OR_NULL],
  balanceDetailsOf: [TEXT_OR_NULL],
  // Without a name, a wallet is shown by its currency.
  rename: [TEXT_OR_NULL],
  setFiatCurrencyCode: ['iso:EUR'],
  getReceiveAddress: [optional({})],
  saveReceiveAddress: ['x', optional({})],
  lockReceiveAddress: ['x', {}],
  savedAddresses: 'takes nothing',
  listCoins: 'takes nothing',
  coinNotes: 'takes nothing',
  changeCoin: ['x:0', {}],
  parseUri: ['bitcoin:x'],
  sampleAddress: 'takes nothing',
  encodeUri: [{ publicAddress: 'x' }],
  makeSpend: [ASSET],
  getMaxSpendable: [ASSET],
  spend: [{}],
  signTx: [{}],
  readSignedTx: [{}],
  broadcastTx: [{}],
  discardTx: ['x'],
  resendTx: ['x'],
  forgetTx: ['x'],
  lookAtOpenPayments: 'takes nothing',
  similarPayments: [{}],
  saveTx: [{}],
  signMessage: ['x', optional({})],
  sweepPrivateKeys: [{ privateKeys: ['x'], spendTargets: [] }],
  unfinishedSpends: 'takes nothing',
  getTransactions: [optional({ 'tokenId?': TEXT_OR_NULL })],
  streamTransactions: 'takes functions',
  getTransaction: ['x', null],
  saveTxMetadata: ['x', { notes: 'x' }],
  sync: 'takes nothing',
  resyncBlockchain: 'takes nothing',
  changePaused: [false, PAUSE],
  changeEnabledTokenIds: [['x']],
  dumpData: 'takes nothing'
}

const TOKEN = {
  currencyCode: 'TOL',
  displayName: 'Tollar',
  denominations: [{ name: 'TOL', multiplier: '100' }],
  'networkLocation?': { contractAddress: '0x1' }
}

const CURRENCY_CONFIG: Methods = {
  ...LISTENER,
  builtinTokensReady: 'takes nothing',
  addCustomToken: [TOKEN],
  changeCustomToken: ['x', TOKEN],
  removeCustomToken: ['x'],
  changeAlwaysEnabledTokenIds: [['x']],
  changeUserSettings: [optional({})]
}

const SWAP_CONFIG: Methods = {
  ...LISTENER,
  changeEnabled: [optional(true)],
  changeUserSettings: [optional({})]
}

const PROOF = optional({ 'password?': 'wrong' })
const RULE = { id: 'x', kind: 'loosening-delay', hours: 5, 'asset?': 'bitcoin', 'client?': 'x' }

const DRAFT = {
  ...{ walletId: 'x', tokenId: TEXT_OR_NULL, nativeAmount: '-5', networkFee: '1' },
  'spendTargets?': [{ publicAddress: 'x', nativeAmount: '5' }]
}

const POLICIES: Methods = {
  list: 'takes nothing',
  onChange: 'takes functions',
  add: [RULE, PROOF],
  remove: ['x', PROOF],
  reset: [{ 'password?': 'wrong' }],
  damaged: 'takes nothing',
  setAside: [[{ walletId: 'x', entry: 'x' }], { 'password?': 'wrong' }],
  cancel: ['x'],
  explain: [optional(DRAFT), optional({ 'requestedBy?': 'x' })],
  test: [{ walletId: 'x', tokenId: TEXT_OR_NULL, nativeAmount: '5', payee: 'x', 'requestedBy?': 'x' }],
  allowOnce: ['show', 'wrong'],
  device: 'takes nothing',
  requestApproval: [DRAFT, optional({ 'requestedBy?': 'x', 'timeoutSeconds?': 5 })],
  fetchApproval: ['x'],
  seen: 'takes nothing',
  forgetSeen: [{ ruleId: 'x', what: 'y' }]
}

const SWAP_ORDERS: Methods = {
  ...LISTENER,
  find: ['x'],
  follow: [
    {
      ...{ txid: 'x', walletId: 'x', date: 2 ** 40 },
      'swapData?': {
        plugin: { 'pluginId?': TEXT_OR_NULL, displayName: 'Shop' },
        ...{
          isEstimate: false,
          'orderId?': TEXT_OR_NULL,
          'orderUri?': TEXT_OR_NULL,
          'refundAddress?': TEXT_OR_NULL
        },
        ...{ payoutAddress: 'x', payoutCurrencyCode: 'LTC', payoutNativeAmount: '5', payoutWalletId: 'x' }
      }
    }
  ],
  refresh: [optional(['x'])],
  // Of the account alone.
  begin: 'takes nothing',
  forget: 'takes nothing',
  close: 'takes nothing'
}

const KEPT_FILES: Methods = { list: 'takes nothing', restore: ['x'] }
const LOCATION: Methods = { makeBackup: 'takes nothing', moveToServer: 'takes nothing' }

const QUOTE_ROUND: Methods = { ...LISTENER, stop: 'takes nothing', close: 'takes nothing' }
const EDGE_LOGIN: Methods = { ...LISTENER, cancel: 'takes nothing' }

const WRONG: readonly unknown[] = [null, 7, Number.NaN, true, 7n, {}, ['x'], [7], 'x', Symbol('x'), () => 'x']

/** Every list of arguments in which one thing is of another type, and whether it must be refused. */
function* wrongOf(sound: readonly Sound[]): Generator<{ args: unknown[]; isWrong: boolean; what: string }> {
  for (const [place, value] of sound.entries()) {
    const put = (part: unknown): unknown[] => sound.map((other, at) => plain(at === place ? part : other))
    const name = value instanceof Optional ? `${place}?` : `${place}`
    for (const { part, isWrong, what } of wrongParts(value instanceof Optional ? value.value : value, name))
      yield { args: put(part), isWrong, what }
  }
}

function* wrongParts(
  value: Sound,
  name: string
): Generator<{ part: unknown; isWrong: boolean; what: string }> {
  const isOptional = name.endsWith('?')
  for (const part of isOptional ? WRONG : [undefined, ...WRONG]) {
    if (part === null && value === TEXT_OR_NULL) continue
    const isWrong = kindOf(part) !== kindOf(value)
    if (isWrong || kindOf(value) !== 'string')
      yield { part, isWrong, what: `${name}: ${typeof part} ${write(part)}` }
  }
  if (!Array.isArray(value) && !isPlain(value)) return
  for (const [key, inner] of Object.entries(value)) {
    for (const { part, what, isWrong } of wrongParts(inner, key)) {
      const whole = Array.isArray(value) ? [part] : { ...value, [key]: part }
      yield { part: whole, isWrong, what: `${name}.${what}` }
    }
  }
}

const kindOf = (value: unknown): string => {
  if (value === TEXT_OR_NULL) return 'string'
  if (Array.isArray(value)) return 'list'
  if (value === null) return 'nothing'
  return typeof value
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

const write = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value).slice(0, 20)

/** Without the marks of what may be left out. */
const plain = (value: unknown): unknown => {
  if (value === TEXT_OR_NULL) return 'x'
  if (value instanceof Optional) return plain(value.value)
  if (Array.isArray(value)) return value.map(plain)
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.replace(/\?$/, ''), plain(part)]))
}

const methodsOf = (object: object): string[] => {
  const names = new Set<string>()
  for (let at = object; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
    }
  }
  return [...names].sort()
}

/** The calls that fail otherwise than with an error of the catalogue, or take a value of another type. */
const callAll = async (t: ExecutionContext, object: object, methods: Methods): Promise<string[]> => {
  t.deepEqual(methodsOf(object), Object.keys(methods).sort(), 'each method is in the table')
  const found: string[] = []
  let tried = 0
  for (const [name, sound] of Object.entries(methods)) {
    if (typeof sound === 'string') continue
    for (const { args, isWrong, what } of wrongOf(sound)) {
      tried += 1
      try {
        const method = Reflect.get(object, name) as (...args: unknown[]) => unknown
        await method.apply(object, args)
        if (isWrong) found.push(`${name} took ${what}`)
      } catch (error) {
        if (!isWalletError(error)) found.push(`${name} with ${what}: ${error}`)
      }
    }
  }
  t.true(tried > 10 || Object.values(methods).every(sound => typeof sound === 'string'))
  return found
}

/** The objects with methods that one reaches from another by its properties, itself among them; none that only shows a state. */
const reachedFrom = (object: unknown, seen: Set<unknown> = new Set()): object[] => {
  if (typeof object !== 'object' || object === null || seen.has(object) || IS_PLATFORM(object)) return []
  seen.add(object)
  const names = new Set<string>()
  for (let at = object; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name)
  const inner = [...names].flatMap(name => reachedFrom(Reflect.get(object, name), seen))
  const isOwn = Array.isArray(object) || methodsOf(object).every(name => Object.hasOwn(LISTENER, name))
  return isOwn ? inner : [object, ...inner]
}

const IS_PLATFORM = (object: object): boolean =>
  [Promise, Date, Map, Set, Uint8Array].some(type => object instanceof type)

test('a context, its rates, an account and a wallet refuse wrong types with an error of the catalogue', async t => {
  t.timeout(120_000)
  const world = makeFakeWorld({ io })
  const shop = makeShop({ watch: () => ({ state: 'waiting' }) })
  const kernel = await openDevice(world, { onError: () => {}, plugins: [litecoin, shop] })
  const { context } = kernel
  const account = await context.createAccount({ ...USER, password: 'Correct Horse 1', pin: '4711' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const litecoins = await account.createCurrencyWallet('wallet:litecoin')
  const round = account.openQuoteRound({
    ...{ fromWallet: wallet, toWallet: litecoins, nativeAmount: nativeAmount('5'), quoteFor: 'from' }
  })
  const edgeLogin = await context.requestEdgeLogin()
  const tables: readonly (readonly [object, Methods])[] = [
    [context, CONTEXT],
    [context.rates, RATES],
    [context.rates.hints, RATE_HINTS],
    [account.twoFactor, TWO_FACTOR],
    [account.walletKeys, WALLET_KEYS],
    [account.dataStore, DATA_STORE],
    [wallet, WALLET],
    [account.currencyConfig('bitcoin'), CURRENCY_CONFIG],
    [account.swapConfig('shop'), SWAP_CONFIG],
    [account.policies, POLICIES],
    [account.swapOrders, SWAP_ORDERS],
    [account.keptFiles, KEPT_FILES],
    [account.location, LOCATION],
    [round, QUOTE_ROUND],
    [edgeLogin, EDGE_LOGIN],
    [account.credentials, CREDENTIALS],
    [account, accountMethods(wallet)]
  ]
  const known = new Set(tables.map(([object]) => object))
  const unknown = tables.flatMap(([object]) => reachedFrom(object)).filter(object => !known.has(object))
  t.deepEqual(
    unknown.map(object => methodsOf(object)),
    [],
    'each object has a table'
  )
  const found: string[] = []
  for (const [object, methods] of tables) {
    for (const line of await callAll(t, object, methods)) found.push(`${object.constructor.name}: ${line}`)
  }
  t.deepEqual(found, [])
  await kernel.close()
  await world.close()
})

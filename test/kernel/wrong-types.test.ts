import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type CurrencyWallet, isWalletError } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice } from '../helpers/device.ts'

const io = makeNodeIo()

/** What a method takes: a sound value for each place. A name that ends in `?` may be left out. */
type Sound = unknown
type Methods = Readonly<Record<string, readonly Sound[] | 'takes nothing' | 'takes functions'>>

const LISTENER: Methods = { subscribe: 'takes functions', getSnapshot: 'takes nothing' }
const USER = { username: 'alice' }
const HELP = { 'otp?': '123456', 'otpKey?': 'AAAA', 'challengeId?': 'x' }
const PAUSE = { 'afterSeconds?': 1 }
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
  requestEdgeLogin: [{ 'timeoutSeconds?': 5 }],
  forgetAccount: [{ username: 'nobody' }, { 'losesAccount?': true }],
  close: 'takes nothing'
}

const RATES: Methods = {
  ...LISTENER,
  convertCurrency: ['BTC', 'iso:USD', 5],
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
  enableOtp: [5],
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
  balanceOf: [null],
  balanceDetailsOf: [null],
  // Without a name, a wallet is shown by its currency.
  rename: [TEXT_OR_NULL],
  setFiatCurrencyCode: ['iso:EUR'],
  getReceiveAddress: [{}],
  saveReceiveAddress: ['x', {}],
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
  signMessage: ['x', {}],
  sweepPrivateKeys: [{ privateKeys: ['x'], spendTargets: [] }],
  unfinishedSpends: 'takes nothing',
  getTransactions: [{ tokenId: null }],
  streamTransactions: 'takes functions',
  getTransaction: ['x', null],
  saveTxMetadata: ['x', { notes: 'x' }],
  sync: 'takes nothing',
  resyncBlockchain: 'takes nothing',
  changePaused: [false, PAUSE],
  changeEnabledTokenIds: [['x']],
  dumpData: 'takes nothing'
}

const WRONG: readonly unknown[] = [null, 7, Number.NaN, true, 7n, {}, ['x'], [7], 'x', Symbol('x'), () => 'x']

/** Every list of arguments in which one thing is of another type, and whether it was to be a text. */
function* wrongOf(sound: readonly Sound[]): Generator<{ args: unknown[]; isText: boolean; what: string }> {
  for (const [place, value] of sound.entries()) {
    const put = (part: unknown): unknown[] => sound.map((other, at) => plain(at === place ? part : other))
    for (const { part, isText, what } of wrongParts(value, `${place}`))
      yield { args: put(part), isText, what }
  }
}

function* wrongParts(
  value: Sound,
  name: string
): Generator<{ part: unknown; isText: boolean; what: string }> {
  const isText = typeof value === 'string' || value === TEXT_OR_NULL
  const isOptional = name.endsWith('?')
  for (const part of isOptional ? WRONG : [undefined, ...WRONG]) {
    if (part === null && value === TEXT_OR_NULL) continue
    if (!isText || typeof part !== 'string')
      yield { part, isText, what: `${name}: ${typeof part} ${write(part)}` }
  }
  if (!Array.isArray(value) && !isPlain(value)) return
  for (const [key, inner] of Object.entries(value)) {
    for (const { part, what, isText } of wrongParts(inner, key)) {
      const whole = Array.isArray(value) ? [part] : { ...value, [key]: part }
      yield { part: whole, isText, what: `${name}.${what}` }
    }
  }
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

const write = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value).slice(0, 20)

/** Without the marks of what may be left out. */
const plain = (value: unknown): unknown => {
  if (value === TEXT_OR_NULL) return 'x'
  if (Array.isArray(value)) return value.map(plain)
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.replace(/\?$/, ''), plain(part)]))
}

const methodsOf = (object: object): string[] => {
  const names = new Set<string>()
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
    }
  }
  return [...names].sort()
}

/** The calls that fail otherwise than with an error of the catalogue, or take what is no text for one. */
const callAll = async (t: ExecutionContext, object: object, methods: Methods): Promise<string[]> => {
  t.deepEqual(methodsOf(object), Object.keys(methods).sort(), 'each method is in the table')
  const found: string[] = []
  let tried = 0
  for (const [name, sound] of Object.entries(methods)) {
    if (typeof sound === 'string') continue
    for (const { args, isText, what } of wrongOf(sound)) {
      tried += 1
      try {
        const method = Reflect.get(object, name) as (...args: unknown[]) => unknown
        await method.apply(object, args)
        if (isText) found.push(`${name} took ${what}`)
      } catch (error) {
        if (!isWalletError(error)) found.push(`${name} with ${what}: ${error}`)
      }
    }
  }
  t.true(tried > 10)
  return found
}

test('a context, its rates, an account and a wallet refuse wrong types with an error of the catalogue', async t => {
  t.timeout(60_000)
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world, { onError: () => {} })
  const { context } = kernel
  const account = await context.createAccount({ ...USER, password: 'Correct Horse 1', pin: '4711' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const tables: readonly (readonly [object, Methods])[] = [
    [context, CONTEXT],
    [context.rates, RATES],
    [account.twoFactor, TWO_FACTOR],
    [account.walletKeys, WALLET_KEYS],
    [account.dataStore, DATA_STORE],
    [wallet, WALLET],
    [account.credentials, CREDENTIALS],
    [account, accountMethods(wallet)]
  ]
  const found: string[] = []
  for (const [object, methods] of tables) {
    for (const line of await callAll(t, object, methods)) found.push(`${object.constructor.name}: ${line}`)
  }
  t.deepEqual(found, [])
  await kernel.close()
  await world.close()
})

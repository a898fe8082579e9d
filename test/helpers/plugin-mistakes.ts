/** Hooks as plain JavaScript sees them. */
type Hooks = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => void>>>>
/** The `apply` of a plugin that TypeScript has not seen. */
export type Apply = (host: { readonly hooks: Hooks }) => unknown

const apply: Apply = () => {}
/** An `apply` that taps one hook. */
export const tap =
  (hook: string): Apply =>
  host =>
    host.hooks[hook]?.tapPromise?.('mine', async () => undefined)
/** A swap plugin with some fields of its own. */
export const swap = (fields: object = {}): object => ({
  ...{ kind: 'swap', id: 'shop', displayName: 'Shop', apply: tap('fetchQuotes') },
  ...fields
})
const rates = (fields: object = {}): object => ({
  ...{ kind: 'rates', id: 'prices', displayName: 'Prices', apply: tap('fetchRates') },
  ...fields
})
const units = [{ name: 'TOL', multiplier: '1000' }]
const info = {
  ...{ pluginId: 'tollar', walletType: 'wallet:tollar', currencyCode: 'TOL', displayName: 'Tollar' },
  denominations: units
}
/** A currency with an info, and fields, of its own. */
export const coin = (changes: object = {}, fields: object = {}): object => ({
  ...{ kind: 'currency', id: 'tollar', info: { ...info, ...changes } },
  apply: (host: Parameters<Apply>[0]) => {
    tap('makeTools')(host)
    tap('makeEngine')(host)
  },
  ...fields
})
const policy = (fields: object = {}): object => ({ kind: 'policy', id: 'limits', apply, ...fields })
const observer = (fields: object = {}): object => ({ kind: 'observer', id: 'watcher', apply, ...fields })
const NOT_TAPPED = 'tapped in apply, before it returns. A'
const LATE = 'What an async apply taps after its first await comes too late.'

/**
 * What an author may give, the id that it is listed under, and the sentence that the author sees; one that ends in … goes on.
 * `docs/plugin-mistakes.md` is made from it.
 */
export const MISTAKES: readonly (readonly [what: string, given: unknown, id: string, sentence: string])[] = [
  ['nothing', undefined, 'plugin-2', 'the plugin is missing, and must be an object'],
  ['null', null, 'plugin-2', 'the plugin is null, and must be an object'],
  ['a name', 'bitcoin', 'plugin-2', 'the plugin is the text "bitcoin", and must be an object'],
  [
    'a factory that throws',
    async () => {
      throw new Error('The list of coins is gone')
    },
    'plugin-2',
    'The list of coins is gone'
  ],
  [
    'a factory that gives nothing',
    async () => {},
    'plugin-2',
    'the plugin is missing, and must be an object'
  ],
  [
    'a factory that gives a module',
    async () => ({ default: swap() }),
    'plugin-2',
    'the plugin is a module, and must be an object with kind, id and apply. Give its default export.'
  ],
  [
    'a factory that gives a factory',
    async () => () => swap(),
    'plugin-2',
    'the plugin is a function, and must be an object. Call it if it makes the plugin.'
  ],
  ['a class', class Shop {}, 'plugin-2', 'Class constructor Shop cannot be invoked…'],
  [
    'a list of plugins',
    [swap()],
    'plugin-2',
    'the plugin is a list, and must be an object. Spread a list of plugins with three dots.'
  ],
  [
    'a module',
    { default: swap() },
    'plugin-2',
    'the plugin is a module, and must be an object with kind, id and apply. Give its default export.'
  ],
  [
    'no id',
    swap({ id: undefined }),
    'plugin-2',
    'id is missing, and must be 1 to 64 letters, digits, - and _. Settings and files use it as the name of the plugin.'
  ],
  [
    'an id with a space',
    swap({ id: 'my shop' }),
    'plugin-2',
    'id is the text "my shop", and must be 1 to 64 letters, digits, - and _. Settings and files use it as the name of the plugin.'
  ],
  [
    'an id that is a path',
    swap({ id: '../x' }),
    'plugin-2',
    'id is the text "../x", and must be 1 to 64 letters, digits, - and _. Settings and files use it as the name of the plugin.'
  ],
  [
    'an id that is a number',
    swap({ id: 7 }),
    'plugin-2',
    'id is the number 7, and must be 1 to 64 letters, digits, - and _. Settings and files use it as the name of the plugin.'
  ],
  [
    'the id of another',
    swap({ id: 'memory' }),
    'memory-2',
    'id is "memory", which another plugin has, and must be an id of its own'
  ],
  [
    'no kind',
    swap({ kind: undefined }),
    'shop',
    'kind is missing, and must be one of currency, rates, swap, storage, policy, observer'
  ],
  [
    'a kind with another name',
    swap({ kind: 'exchange' }),
    'shop',
    'kind is the text "exchange", and must be one of currency, rates, swap, storage, policy, observer. Did you mean swap?'
  ],
  [
    'a kind in the singular',
    rates({ kind: 'rate' }),
    'prices',
    'kind is the text "rate", and must be one of currency, rates, swap, storage, policy, observer. Did you mean rates?'
  ],
  [
    'a kind that is misspelt',
    coin({}, { kind: 'curency' }),
    'tollar',
    'kind is the text "curency", and must be one of currency, rates, swap, storage, policy, observer. Did you mean currency?'
  ],
  ['no apply', swap({ apply: undefined }), 'shop', 'apply is missing, and must be a function'],
  [
    'an apply with a capital',
    { kind: 'policy', id: 'limits', Apply: apply },
    'limits',
    'Apply is no field of a policy plugin, and must be spelled apply'
  ],
  [
    'an apply that is an object',
    policy({ apply: {} }),
    'limits',
    'apply is an object, and must be a function'
  ],
  [
    'a misspelt hook',
    swap({ apply: tap('fetchQuote') }),
    'shop',
    'hooks.fetchQuote is no hook of a swap plugin, and must be one of ready, closing, fetchQuotes, watchOrder. Did you mean fetchQuotes?'
  ],
  [
    'a hook of another kind',
    swap({ apply: tap('makeEngine') }),
    'shop',
    'hooks.makeEngine is no hook of a swap plugin, and must be one of ready, closing, fetchQuotes, watchOrder'
  ],
  [
    'a hook of old',
    rates({ apply: tap('onRates') }),
    'prices',
    'hooks.onRates is no hook of a rates plugin, and must be one of ready, closing, fetchRates, fetchHistoricRates'
  ],
  [
    'tap for tapPromise',
    swap({ apply: (host: Parameters<Apply>[0]) => host.hooks.fetchQuotes?.tap?.('a', () => {}) }),
    'shop',
    'hooks.fetchQuotes.tap is not how this hook is tapped, and must be tapPromise. Its function gives a promise.'
  ],
  [
    'tapAsync for tapPromise',
    swap({ apply: (host: Parameters<Apply>[0]) => host.hooks.fetchQuotes?.tapAsync?.('a', () => {}) }),
    'shop',
    'hooks.fetchQuotes.tapAsync is not how this hook is tapped, and must be tapPromise. Its function gives a promise.'
  ],
  [
    'tapPromise for tap',
    policy({
      apply: (host: Parameters<Apply>[0]) => host.hooks.rankQuotes?.tapPromise?.('a', async () => {})
    }),
    'limits',
    'hooks.rankQuotes.tapPromise is not how this hook is tapped, and must be tap. It waits for no promise.'
  ],
  [
    'a tap without a name',
    swap({ apply: (host: Parameters<Apply>[0]) => host.hooks.fetchQuotes?.tapPromise?.(async () => {}) }),
    'shop',
    'the call of hooks.fetchQuotes.tapPromise is without a function as its second argument, and must be tapPromise(name, function)'
  ],
  [
    'a swap plugin that taps nothing',
    swap({ apply }),
    'shop',
    `hooks.fetchQuotes is not tapped, and must be ${NOT_TAPPED} swap plugin without that does nothing. ${LATE}`
  ],
  [
    'a rate plugin that taps nothing',
    rates({ apply }),
    'prices',
    `hooks.fetchRates is not tapped, and must be ${NOT_TAPPED} rates plugin without that does nothing. ${LATE}`
  ],
  [
    'a method that is described by no schema',
    coin({ otherMethods: { getAllowance: { description: 'What is left', arguments: 'spender' } } }),
    'tollar',
    'info.otherMethods.getAllowance.arguments is the text "spender", and must be a schema, such as { type: "string" }'
  ],
  [
    'a method that takes no object',
    coin({
      otherMethods: {
        getFee: { description: 'A fee', arguments: { type: 'string' }, result: { type: 'null' } }
      }
    }),
    'tollar',
    'info.otherMethods.getFee.arguments.type is the text "string", and must be "object"'
  ],
  [
    'a method with a misspelt word in its schema',
    coin({
      otherMethods: {
        getFee: {
          ...{ description: 'A fee', arguments: { type: 'object' } },
          result: { type: 'object', properties: { fee: { type: 'string', maxlength: 5 } } }
        }
      }
    }),
    'tollar',
    'info.otherMethods.getFee.result.properties.fee.maxlength is the number 5, and must be one of type, description, enum, format, maxLength for the type string'
  ],
  [
    'a method whose name is none',
    coin({ otherMethods: { 'get-fee': { description: 'Later' } } }),
    'tollar',
    'info.otherMethods.get-fee is the text "get-fee", and must be named by up to 64 letters and digits, and not then'
  ],
  [
    'a curve that the kernel cannot sign on',
    coin({ signing: { curve: 'p256', keyName: 'key' } }),
    'tollar',
    'info.signing.curve is the text "p256", and must be ed25519 or secp256k1'
  ],
  [
    'a key under a name that every wallet has',
    coin({ signing: { curve: 'ed25519', keyName: 'dataKey' } }),
    'tollar',
    'info.signing.keyName is the text "dataKey", and must be a name of letters and digits, and none that a wallet has of itself'
  ],
  [
    'a sync with keys that the kernel keeps',
    coin({ signing: { curve: 'ed25519', keyName: 'key' }, needsKeysToSync: true }),
    'tollar',
    'info.needsKeysToSync is true, and must be false beside info.signing'
  ],
  [
    'a custom fee without a unit',
    coin({ customFeeTemplate: [{ key: 'rate', displayName: 'Fee rate' }] }),
    'tollar',
    'info.customFeeTemplate[0].unit is missing, and must be a text of 1 to 200 characters'
  ],
  [
    'a progress with too many digits',
    coin({ syncDisplayPrecision: 7 }),
    'tollar',
    'info.syncDisplayPrecision is the number 7, and must be a whole number from 0 to 6'
  ],
  [
    'settings that are no object',
    coin({ defaultSettings: 'none' }),
    'tollar',
    'info.defaultSettings is the text "none", and must be an object'
  ],
  [
    'a currency without tools',
    coin({}, { apply: tap('makeEngine') }),
    'tollar',
    `hooks.makeTools is not tapped, and must be ${NOT_TAPPED} currency plugin without that does nothing. ${LATE}`
  ],
  [
    'a currency without an engine',
    coin({}, { apply: tap('makeTools') }),
    'tollar',
    `hooks.makeEngine is not tapped, and must be ${NOT_TAPPED} currency plugin without that does nothing. ${LATE}`
  ],
  [
    'an apply that taps after an await',
    swap({
      apply: async (host: Parameters<Apply>[0]) => {
        await null
        tap('fetchQuotes')(host)
      }
    }),
    'shop',
    `hooks.fetchQuotes is not tapped, and must be ${NOT_TAPPED} swap plugin without that does nothing. ${LATE}`
  ],
  [
    'an apply that throws',
    policy({
      apply: () => {
        throw new Error('No server is set')
      }
    }),
    'limits',
    'No server is set'
  ],
  [
    'an apply that throws nothing',
    policy({
      apply: () => {
        throw undefined
      }
    }),
    'limits',
    'It threw undefined'
  ],
  [
    'a long method of ours that is called wrongly',
    policy({
      apply: () => {
        throw new TypeError('tools.getDisplayPrivateKey is no function')
      }
    }),
    'limits',
    'tools.getDisplayPrivateKey is no function'
  ],
  [
    'a name that is a number',
    swap({ displayName: 42 }),
    'shop',
    'displayName is the number 42, and must be a text of 1 to 200 characters'
  ],
  [
    'an empty name',
    rates({ displayName: '' }),
    'prices',
    'displayName is an empty text, and must be a text of 1 to 200 characters'
  ],
  [
    'a misspelt name',
    { kind: 'swap', id: 'shop', dispalyName: 'Shop', apply: tap('fetchQuotes') },
    'shop',
    'dispalyName is no field of a swap plugin, and must be spelled displayName'
  ],
  ['isDex as a text', swap({ isDex: 'true' }), 'shop', 'isDex is the text "true", and must be true or false'],
  ['isDEX', swap({ isDEX: true }), 'shop', 'isDEX is no field of a swap plugin, and must be spelled isDex'],
  [
    'an email that is a list',
    swap({ supportEmail: ['a@b.c'] }),
    'shop',
    'supportEmail is a list, and must be a text of 1 to 200 characters'
  ],
  [
    'a check of settings that is an object',
    swap({ checkSettings: {} }),
    'shop',
    'checkSettings is an object, and must be a function'
  ],
  [
    'a host with a path',
    rates({ hosts: ['example.org/v1'] }),
    'prices',
    'hosts is a list, and must be a list of up to 50 names of servers, such as rates.example.org'
  ],
  ['a bias as a text', rates({ bias: '0.5' }), 'prices', 'bias is the text "0.5", and must be a number'],
  [
    'a retirement without a sentence',
    rates({ retired: true }),
    'prices',
    'retired is the boolean true, and must be a sentence'
  ],
  [
    'a check of options that is a text',
    rates({ checkOptions: 'none' }),
    'prices',
    'checkOptions is the text "none", and must be a function'
  ],
  ['no info', coin({}, { info: undefined }), 'tollar', 'info is missing, and must be an object'],
  ['an info that is a list', coin({}, { info: [info] }), 'tollar', 'info is a list, and must be an object'],
  [
    'an info of another id',
    coin({ pluginId: 'dollar' }),
    'tollar',
    'info.pluginId is the text "dollar", and must be "tollar", the id of the plugin'
  ],
  [
    'a wallet type without its prefix',
    coin({ walletType: 'tollar' }),
    'tollar',
    'info.walletType is the text "tollar", and must be a text such as "wallet:bitcoin"'
  ],
  [
    'no currency code',
    coin({ currencyCode: undefined }),
    'tollar',
    'info.currencyCode is missing, and must be a text of 1 to 200 characters'
  ],
  [
    'no units',
    coin({ denominations: [] }),
    'tollar',
    'info.denominations is an empty list, and must be a list of units, the usual one first'
  ],
  [
    'one unit without a list',
    coin({ denominations: units[0] }),
    'tollar',
    'info.denominations is an object, and must be a list of units, the usual one first'
  ],
  [
    'a multiplier that is a number',
    coin({ denominations: [{ name: 'TOL', multiplier: 1000 }] }),
    'tollar',
    'info.denominations[0].multiplier is the number 1000, and must be the native units of one, as text such as "100000000"'
  ],
  [
    'a multiplier in scientific notation',
    coin({ denominations: [...units, { name: 'k', multiplier: '1e6' }] }),
    'tollar',
    'info.denominations[1].multiplier is the text "1e6", and must be the native units of one, as text such as "100000000"'
  ],
  [
    'a unit without a name',
    coin({ denominations: [{ multiplier: '1' }] }),
    'tollar',
    'info.denominations[0].name is missing, and must be a text of 1 to 200 characters'
  ],
  [
    'confirmations as a text',
    coin({ requiredConfirmations: '6' }),
    'tollar',
    'info.requiredConfirmations is the text "6", and must be a whole number from 0'
  ],
  [
    'memo options of one kind',
    coin({ memoOptions: { type: 'text' } }),
    'tollar',
    'info.memoOptions is an object, and must be a list of kinds of memos, such as { type: "text" }'
  ],
  [
    'a kind of memo that there is not',
    coin({ memoOptions: [{ type: 'text' }, { type: 'tag' }] }),
    'tollar',
    'info.memoOptions[1].type is the text "tag", and must be text, number or hex'
  ],
  [
    'a misspelt rule of memos',
    coin({ memoOptions: [{ type: 'text', maxlength: 5 }] }),
    'tollar',
    'info.memoOptions[0].maxlength is no field of a currency plugin, and must be spelled maxLength'
  ],
  [
    'a length of memos as a text',
    coin({ memoOptions: [{ type: 'text', minLength: '5' }] }),
    'tollar',
    'info.memoOptions[0].minLength is the text "5", and must be a whole number from 0'
  ],
  [
    'a largest memo as a number',
    coin({ memoOptions: [{ type: 'number', maxValue: 7 }] }),
    'tollar',
    'info.memoOptions[0].maxValue is the number 7, and must be a number as text, such as "4294967295"'
  ],
  [
    'a count of memos below none',
    coin({ maxMemos: -1 }),
    'tollar',
    'info.maxMemos is the number -1, and must be a whole number from 0'
  ],
  [
    'a supply as a number',
    coin({ maxSupply: 21e14 }),
    'tollar',
    'info.maxSupply is the number 2100000000000000, and must be native units as text, such as "2100000000000000"'
  ],
  [
    'a flag as a number',
    coin({ needsKeysToSpend: 1 }),
    'tollar',
    'info.needsKeysToSpend is the number 1, and must be true or false'
  ],
  [
    'a misspelt flag',
    coin({ needKeysToSpend: true }),
    'tollar',
    'info.needKeysToSpend is no field of a currency plugin, and must be spelled needsKeysToSpend'
  ],
  [
    'an info with a function',
    coin({ toJSON: () => 7 }),
    'tollar',
    'info.pluginId is missing, and must be "tollar", the id of the plugin'
  ],
  [
    'a storage that opens nothing',
    { kind: 'storage', id: 'cellar', apply },
    'cellar',
    `hooks.openDisk is not tapped, and must be ${NOT_TAPPED} storage plugin without that does nothing. ${LATE}`
  ],
  [
    'an observer that taps what is no hook',
    observer({ apply: (host: Parameters<Apply>[0]) => host.hooks.walletsChanged?.tap?.('a', () => {}) }),
    'watcher',
    'hooks.walletsChanged is no hook of an observer plugin, and must be one of ready, closing, …'
  ]
]

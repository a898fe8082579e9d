import { execFileSync } from 'node:child_process'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import fc from 'fast-check'
import type { Action, Actions } from '../../../app/actions/actions.ts'
import { actionNames, actions, commandLineOf } from '../../../app/actions/actions.ts'
import type { CommandNames } from '../../../app/actions/command-line.ts'
import type { SpendDraftInput } from '../../../app/actions/spend-review.ts'
import { isMax } from '../../../app/format/amounts.ts'
import { commandSpecs } from '../../../cli/commands/commands.ts'
import { parseCount, parsePairs, readGlobalOptions } from '../../../cli/grammar/options.ts'
import { parseArguments } from '../../../cli/parse-arguments.ts'
import { type ActionMemory, commandNamesOf } from '../../../devtools/core/model/command-names.ts'
import type { SliceName, View } from '../../../devtools/core/model/slices.ts'
import { nativeAmount, parseAmount } from '../../../kernel/index.ts'
import { normalizeUsername } from '../../../kernel/login/derive.ts'

const SAVINGS = 'c2F2aW5ncw+/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
const DAILY = 'ZGFpbHkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
const ACCOUNT = 'YWxpY2U='
const UNITS = {
  currencyCode: 'BTC',
  displayName: 'Bitcoin',
  denominations: [{ name: 'BTC', multiplier: '100000000' }]
}
const USDX = {
  currencyCode: 'USDX',
  displayName: 'Dollar X',
  denominations: [{ name: 'USDX', multiplier: '1000000' }]
}
/** What amounts are written in where a currency is known; the second unit is no word that a command knows. */
const KNOWN: readonly (typeof UNITS | undefined)[] = [
  UNITS,
  { ...UNITS, denominations: [{ name: '1 bit', multiplier: '100' }] },
  undefined
]

interface ViewFacts {
  readonly names?: readonly [savings: string | null, daily: string | null]
  readonly users?: readonly string[]
  readonly quote?: string
  readonly unit?: typeof UNITS | undefined
}

/** A view of one account with two wallets, or of more accounts without any. */
const viewOf = ({ names = ['Savings', 'Daily'], users = ['alice'], quote, unit }: ViewFacts = {}): View => {
  const table = (entries: readonly (readonly [string, object])[] = []) => new Map(entries)
  const tables: Partial<Record<SliceName, ReturnType<typeof table>>> = {
    accounts: table(
      users.map((username, index) => [
        index === 0 ? ACCOUNT : username,
        {
          accountId: index === 0 ? ACCOUNT : username,
          username,
          isLoggedIn: true,
          walletIds: index === 0 ? [SAVINGS, DAILY] : []
        }
      ])
    ),
    wallets: table(
      [SAVINGS, DAILY].map((walletId, index) => [
        walletId,
        { walletId, pluginId: 'bitcoin', name: names[index], tokens: [{ tokenId: 'usdx', ...USDX }] }
      ])
    ),
    repos: table([
      ['own', { repoId: 'own', accountId: ACCOUNT }],
      ['savings', { repoId: 'savings', accountId: ACCOUNT, walletId: SAVINGS }]
    ]),
    plugins: table(unit === undefined ? [] : [['bitcoin', { pluginId: 'bitcoin', currency: unit }]]),
    quotes: table(
      quote === undefined
        ? []
        : [['round sideshift', { roundId: 'round', pluginId: 'sideshift', quoteId: quote }]]
    )
  }
  return new Proxy({} as View, { get: (_, slice: SliceName) => tables[slice] ?? table() })
}

const NOTHING: ActionMemory = { drafts: new Map(), rounds: new Map() }

const bookOf = (facts: ViewFacts = {}, memory: ActionMemory = NOTHING): CommandNames =>
  commandNamesOf(viewOf(facts), memory)

/** What a shell makes of command lines: the words of each. */
const shellWords = (lines: readonly string[]): readonly (readonly string[])[] => {
  const script = ['say() { printf \'%s\\0\' "$#" "$@"; }', ...lines.map(line => `say ${line}`)].join('\n')
  const words = execFileSync('/bin/sh', ['-s'], { input: script, maxBuffer: 2 ** 26 })
    .toString()
    .split('\0')
  const found: string[][] = []
  for (let at = 0; at < words.length - 1; ) {
    const count = Number(words[at])
    found.push(words.slice(at + 1, at + 1 + count))
    at += 1 + count
  }
  return found
}

interface Parsed {
  readonly name: string
  readonly args: readonly (string | undefined)[]
  readonly flags: Readonly<Record<string, unknown>>
}

/** Reads command lines as a shell and the CLI do. */
const parseAll = (t: ExecutionContext, lines: readonly string[]): readonly Parsed[] =>
  shellWords(lines).map(([program, ...argv]) => {
    t.is(program, 'holdfast')
    const parsed = parseArguments(argv, 80)
    if (parsed.kind !== 'run') throw new Error(`${argv.join(' ')} runs nothing`)
    readGlobalOptions(parsed.flags, { environment: {} })
    return { name: parsed.spec.name, args: parsed.args, flags: parsed.flags }
  })

const lineOf = (action: Action, book: CommandNames = bookOf()): string => commandLineOf(action, book) ?? ''

const DRAFT: Actions['spend.draft']['in'] = {
  walletId: SAVINGS,
  publicAddress: 'bcrt1qaddress',
  nativeAmount: '1000000',
  fee: 'high'
}
const QUERY: Actions['swap.ask']['in'] = {
  fromWalletId: SAVINGS,
  toWalletId: DAILY,
  nativeAmount: '5000',
  quoteFor: 'to'
}

/** One of each action, and the command that does the same. */
const EXAMPLES: readonly (readonly [Action, string])[] = [
  [
    { name: 'account.create', input: { username: 'alice', password: 'secret', pin: '1234' } },
    'account create alice'
  ],
  [{ name: 'account.create', input: { pin: '1234' } }, 'account create --light'],
  [
    { name: 'account.login', input: { username: 'Alice B', password: 'secret' } },
    "login 'Alice B' --with password"
  ],
  [{ name: 'account.login', input: { username: 'alice', pin: '1234' } }, 'login alice --with pin'],
  [{ name: 'account.login', input: { loginId: 'SomeId', pin: '1234' } }, 'login SomeId --with pin'],
  [{ name: 'account.logout', input: { accountId: ACCOUNT } }, 'logout alice'],
  [{ name: 'account.move', input: { accountId: ACCOUNT, password: 'secret' } }, 'account move-to-server'],
  [
    {
      name: 'wallet.create',
      input: { accountId: ACCOUNT, walletType: 'wallet:bitcoin', name: "Bob's $HOME" }
    },
    `wallets create wallet:bitcoin --name 'Bob'\\''s $HOME'`
  ],
  [{ name: 'wallet.receive', input: { walletId: SAVINGS } }, 'address show Savings --uri'],
  [
    { name: 'wallet.receive', input: { walletId: SAVINGS, index: 3, nativeAmount: '5000', label: 'Ann' } },
    "address show Savings --uri --label Ann --index 3 --amount '5000 native'"
  ],
  [
    {
      name: 'wallet.create',
      input: {
        ...{ accountId: ACCOUNT, walletType: 'wallet:bitcoin', fiatCurrencyCode: 'iso:EUR' },
        keyOptions: { format: 'bip84' }
      }
    },
    'wallets create wallet:bitcoin --fiat iso:EUR --key-option format=bip84'
  ],
  [{ name: 'wallet.methods', input: { walletId: SAVINGS } }, 'wallets methods Savings'],
  [
    { name: 'wallet.call', input: { walletId: SAVINGS, name: 'getFee', args: '{"speed":"low"}' } },
    `wallets methods Savings getFee --args '{"speed":"low"}'`
  ],
  [
    { name: 'message.sign', input: { walletId: SAVINGS, message: 'I am Ann', format: 'bip322' } },
    "message sign Savings --message 'I am Ann' --format bip322"
  ],
  [
    {
      name: 'message.verify',
      input: { pluginId: 'bitcoin', message: '-x', publicAddress: 'bc1q', signature: 'smpAkc=' }
    },
    'message verify bitcoin bc1q smpAkc= --message=-x'
  ],
  [{ name: 'account.list', input: {} }, 'account list'],
  [{ name: 'wallet.list', input: { accountId: ACCOUNT } }, 'wallets list'],
  [{ name: 'wallet.list', input: { withArchived: true } }, 'wallets list --all'],
  [{ name: 'wallet.get', input: { walletId: SAVINGS } }, 'wallets show Savings'],
  [
    { name: 'wallet.parse', input: { walletId: SAVINGS, uri: 'bitcoin:bc1q?label=Bob' } },
    "uri parse Savings 'bitcoin:bc1q?label=Bob'"
  ],
  [{ name: 'wallet.types', input: {} }, 'wallets types'],
  [
    { name: 'token.list', input: { accountId: ACCOUNT, pluginId: 'bitcoin', walletId: SAVINGS } },
    'tokens list Savings'
  ],
  [{ name: 'token.list', input: { accountId: ACCOUNT, pluginId: 'bitcoin' } }, 'tokens list bitcoin'],
  [{ name: 'swap.providers', input: { accountId: ACCOUNT } }, 'swap providers'],
  [{ name: 'engine.list', input: {} }, 'sync status'],
  [{ name: 'repo.list', input: {} }, 'sync repos'],
  [{ name: 'tx.list', input: { walletId: SAVINGS } }, 'tx list Savings'],
  [
    {
      name: 'tx.list',
      input: { walletId: SAVINGS, search: '-rent', limit: 5, before: 'abcd', tokenId: 'usdx' }
    },
    "tx list Savings --search ' -rent' --limit 5 --before abcd --token usdx"
  ],
  [
    {
      name: 'tx.list',
      input: { walletId: SAVINGS, since: 0, until: 1_700_000_000_000, state: 'confirmed', direction: 'in' }
    },
    'tx list Savings --since 1970-01-01T00:00:00.000Z --until 2023-11-14T22:13:20.000Z --state confirmed --in'
  ],
  [
    { name: 'tx.get', input: { walletId: SAVINGS, txid: 'abcd', tokenId: 'usdx' } },
    'tx show Savings abcd --token usdx'
  ],
  [{ name: 'spend.open', input: { walletId: SAVINGS } }, 'tx open Savings'],
  [
    { name: 'rates.value', input: { walletId: SAVINGS, nativeAmount: '1500', to: 'iso:EUR' } },
    "amount Savings '1500 native' --to iso:EUR"
  ],
  [{ name: 'rates.providers', input: {} }, 'rates providers'],
  [{ name: 'engine.pause', input: { walletId: SAVINGS } }, 'wallets pause Savings'],
  [{ name: 'engine.resume', input: { walletId: SAVINGS } }, 'wallets resume Savings'],
  [{ name: 'engine.resync', input: { walletId: 'unseen' } }, 'wallets resync unseen'],
  [{ name: 'repo.sync', input: { repoId: 'any' } }, 'sync'],
  [{ name: 'repo.sync', input: { repoId: 'own' } }, 'sync account'],
  [{ name: 'repo.sync', input: { repoId: 'savings' } }, 'sync Savings'],
  [
    { name: 'spend.draft', input: DRAFT },
    "send Savings --to bcrt1qaddress --amount '1000000 native' --fee high"
  ],
  [
    {
      name: 'spend.draft',
      input: {
        ...{ walletId: SAVINGS, publicAddress: 'bcrt1qone', nativeAmount: '5000' },
        others: [{ publicAddress: 'bcrt1qtwo', nativeAmount: '7000' }],
        ...{ customFee: { satPerByte: '5' }, memos: [{ type: 'hex', value: 'cafe' }] },
        ...{ notes: { name: 'Bob', category: 'expense:Rent' }, withUnconfirmed: false }
      }
    },
    "send Savings --to bcrt1qone --to bcrt1qtwo --amount '5000 native' --amount '7000 native' --custom-fee satPerByte=5 --memo hex:cafe --name Bob --category expense:Rent --no-unconfirmed"
  ],
  [
    {
      name: 'spend.draft',
      input: { walletId: SAVINGS, publicAddress: 'bcrt1qone', nativeAmount: '5000', replaces: 'abcd' }
    },
    "tx replace Savings abcd --to bcrt1qone --amount '5000 native'"
  ],
  [
    { name: 'spend.resend', input: { walletId: SAVINGS, txid: 'abcd', again: ['cafe'] } },
    'tx resend Savings abcd --again'
  ],
  [
    { name: 'spend.replace', input: { walletId: SAVINGS, txid: 'abcd', customFee: { satPerByte: '5' } } },
    'tx replace Savings abcd --custom-fee satPerByte=5'
  ],
  [
    { name: 'spend.approve', input: { draftId: 'spend' } },
    "send Savings --to bcrt1qaddress --amount '1000000 native' --fee high"
  ],
  [
    { name: 'approval.request', input: { draftId: 'spend' } },
    "send Savings --to bcrt1qaddress --amount '1000000 native' --fee high"
  ],
  [
    { name: 'spend.discard', input: { draftId: 'spend' } },
    "send Savings --to bcrt1qaddress --amount '1000000 native' --fee high --dry-run"
  ],
  [
    { name: 'spend.approve', input: { draftId: 'replacement', maxNetworkFee: '70', again: ['cafe'] } },
    "tx replace Savings abcd --fee high --max-fee '70 native' --again"
  ],
  [
    { name: 'spend.discard', input: { draftId: 'replacement' } },
    'tx replace Savings abcd --fee high --dry-run'
  ],
  [{ name: 'spend.resend', input: { walletId: SAVINGS, txid: 'abcd' } }, 'tx resend Savings abcd'],
  [{ name: 'spend.replace', input: { walletId: SAVINGS, txid: 'abcd' } }, 'tx replace Savings abcd'],
  [
    { name: 'spend.bump', input: { walletId: SAVINGS, txid: 'abcd', fee: 'high' } },
    'tx bump Savings abcd --fee high'
  ],
  [{ name: 'spend.approve', input: { draftId: 'swept' } }, 'sweep Savings --fee low'],
  [
    { name: 'spend.approve', input: { draftId: 'bump', maxNetworkFee: '70' } },
    "tx bump Savings abcd --fee high --max-fee '70 native'"
  ],
  [{ name: 'coin.list', input: { walletId: SAVINGS } }, 'coins list Savings'],
  [
    { name: 'coin.change', input: { walletId: SAVINGS, coin: 'abcd:1', label: 'Rain' } },
    'coins label Savings abcd:1 --label Rain'
  ],
  [
    { name: 'coin.change', input: { walletId: SAVINGS, coin: 'abcd:1', isFrozen: true } },
    'coins freeze Savings abcd:1'
  ],
  [
    {
      name: 'spend.sweep',
      input: { walletId: SAVINGS, privateKeys: ['secret'], fee: 'low', maxNetworkFee: '500' }
    },
    "sweep Savings --fee low --max-fee '500 native'"
  ],
  [
    { name: 'spend.forget', input: { walletId: DAILY, txid: 'abcd', confirm: 'abcd' } },
    'tx forget Daily abcd'
  ],
  [
    { name: 'swap.approve', input: { draftId: 'swap', again: ['cafe'] } },
    "swap run --from Savings --to Daily --amount '5000 native' --for to --prefer sideshift --again"
  ],
  [
    { name: 'spend.max', input: { walletId: SAVINGS, publicAddress: 'bcrt1qaddress', fee: 'low' } },
    'send Savings --to bcrt1qaddress --amount max --fee low --dry-run'
  ],
  [
    {
      name: 'spend.draft',
      input: { walletId: SAVINGS, tokenId: 'usdx', publicAddress: '0xshop', nativeAmount: '1500000' }
    },
    "send Savings --token usdx --to 0xshop --amount '1.5 USDX'"
  ],
  [
    { name: 'swap.ask', input: QUERY },
    "swap quote --from Savings --to Daily --amount '5000 native' --for to"
  ],
  [{ name: 'policy.list', input: { accountId: ACCOUNT } }, 'policy explain'],
  [{ name: 'proposal.list', input: {} }, 'proposals list'],
  [{ name: 'proposal.review', input: { proposalId: '7' } }, 'proposals approve 7'],
  [{ name: 'proposal.decline', input: { proposalId: '7' } }, 'proposals decline 7'],
  [{ name: 'spend.approve', input: { draftId: 'proposed' } }, 'proposals approve 7'],
  [
    {
      name: 'swap.ask',
      input: {
        ...{ fromWalletId: SAVINGS, toWalletId: DAILY, fromTokenId: 'usdx', nativeAmount: '1500000' },
        ...{ quoteFor: 'from', preferType: 'DEX', disabled: ['sideshift'], promoCodes: { changenow: 'AB' } }
      }
    },
    "swap quote --from Savings:usdx --to Daily --amount '1.5 USDX' --prefer-type DEX --disable sideshift --promo changenow=AB"
  ],
  [
    { name: 'swap.compare', input: QUERY },
    "swap quote --from Savings --to Daily --amount '5000 native' --for to"
  ],
  [
    { name: 'swap.ask', input: { ...QUERY, quoteFor: 'max' } },
    'swap quote --from Savings --to Daily --amount max'
  ],
  [{ name: 'swap.close', input: { roundId: 'round' } }, 'swap close round-7'],
  [
    { name: 'swap.review', input: { quoteId: 'round-7' } },
    "swap run --from Savings --to Daily --amount '5000 native' --for to --prefer sideshift"
  ],
  [{ name: 'swap.review', input: { quoteId: 'other-1' } }, 'swap approve other-1'],
  [
    { name: 'swap.approve', input: { draftId: 'swap' } },
    "swap run --from Savings --to Daily --amount '5000 native' --for to --prefer sideshift"
  ],
  [
    { name: 'swap.discard', input: { draftId: 'swap' } },
    "swap run --from Savings --to Daily --amount '5000 native' --for to --prefer sideshift --dry-run"
  ],
  [
    { name: 'swap.enable', input: { accountId: ACCOUNT, pluginId: 'sideshift', isEnabled: true } },
    'swap enable sideshift'
  ],
  [
    { name: 'swap.enable', input: { accountId: ACCOUNT, pluginId: 'sideshift', isEnabled: false } },
    'swap disable sideshift'
  ],
  [{ name: 'rates.route', input: { from: 'BTC', to: 'iso:EUR' } }, 'rates route BTC iso:EUR'],
  [
    {
      name: 'rates.route',
      input: { from: 'BTC', to: 'iso:EUR', biases: { kraken: -0.5, ecb: 1e-9 }, alternatives: 3 }
    },
    'rates route BTC iso:EUR --explain --bias kraken=-0.5 --bias ecb=0'
  ],
  [{ name: 'rates.refresh', input: {} }, 'rates refresh'],
  [
    { name: 'world.fund', input: { walletId: DAILY, nativeAmount: '42' } },
    "fake chain fund Daily '42 native'"
  ],
  [
    { name: 'world.mine', input: { pluginId: 'litecoin', count: 6 } },
    'fake chain mine 6 --currency litecoin'
  ],
  [{ name: 'world.network', input: { isOnline: true } }, 'fake net online'],
  [{ name: 'world.network', input: { isOnline: false } }, 'fake net offline']
]

test('each action has its command, without a password or PIN, and the real parser takes it', t => {
  const book = bookOf(
    { quote: 'round-7' },
    {
      drafts: new Map<string, SpendDraftInput>([
        ['spend', DRAFT],
        ['replacement', { walletId: SAVINGS, txid: 'abcd', fee: 'high' }],
        ['bump', { bumped: { walletId: SAVINGS, txid: 'abcd', fee: 'high' } }],
        ['swept', { swept: { walletId: SAVINGS, fee: 'low' } }],
        ['swap', { quoteId: 'round-7' }],
        ['proposed', { proposalId: '7' }]
      ]),
      rounds: new Map([['round', QUERY]])
    }
  )
  for (const [action, command] of EXAMPLES) t.is(lineOf(action, book), `holdfast ${command}`)
  const parsed = parseAll(
    t,
    EXAMPLES.map(([action]) => lineOf(action, book))
  )
  const known = commandSpecs.map(({ name }) => name)
  for (const { name } of parsed) t.true(known.includes(name), name)
  const withCommand = actions
    .filter(({ faces }) => !(typeof faces.cli === 'object' && 'none' in faces.cli))
    .map(({ name }) => name)
  t.deepEqual([...new Set(EXAMPLES.map(([{ name }]) => name))].sort(), withCommand.sort())
})

test('an unknown draft has no command', t => {
  for (const name of ['spend.approve', 'spend.discard', 'swap.approve', 'swap.discard'] as const)
    t.is(commandLineOf({ name, input: { draftId: 'unknown' } }, bookOf()), undefined)
})

test('amounts are in the unit of their currency where it is known', t => {
  const book = bookOf({ unit: UNITS })
  t.is(
    lineOf({ name: 'world.fund', input: { walletId: SAVINGS, nativeAmount: '1500000' } }, book),
    "holdfast fake chain fund Savings '0.015 BTC'"
  )
  t.is(
    lineOf({ name: 'swap.ask', input: QUERY }, book),
    "holdfast swap quote --from Savings --to Daily --amount '0.00005 BTC' --for to"
  )
})

test('the account is named where there are several', t => {
  const book = bookOf({ users: ['alice', 'bob'] })
  t.is(
    lineOf({ name: 'engine.pause', input: { walletId: SAVINGS } }, book),
    'holdfast wallets pause Savings --account alice'
  )
  t.is(
    lineOf({ name: 'swap.enable', input: { accountId: 'bob', pluginId: 'x', isEnabled: true } }, book),
    'holdfast swap enable x --account bob'
  )
})

test('a wallet that is called account is synced by its id, since the word means the account', t => {
  const action: Action = { name: 'repo.sync', input: { repoId: 'savings' } }
  t.is(lineOf(action, bookOf({ names: ['account', 'Daily'] })), `holdfast sync ${SAVINGS}`)
  t.is(
    lineOf({ name: 'repo.sync', input: { repoId: 'own' } }, bookOf({ users: ['alice', 'bob'] })),
    'holdfast sync account --account alice'
  )
})

test('a wallet is called by its id where its name would be misread', t => {
  const misread: readonly (readonly [string | null, string | null])[] = [
    [null, 'Daily'],
    ['', 'Daily'],
    ['  ', 'Daily'],
    ['-y', 'Daily'],
    ['Same', 'same'],
    ['tab\there', 'Daily'],
    ['\u202eturned', 'Daily'],
    // The beginning of an id counts before a name, and so does what looks like an address.
    ['ZGFpbHk', 'Daily'],
    ['OnceUponATimeThereWasAWallet', 'Daily']
  ]
  for (const names of misread) {
    const line = lineOf({ name: 'engine.pause', input: { walletId: SAVINGS } }, bookOf({ names }))
    t.is(line, `holdfast wallets pause ${SAVINGS}`, String(names[0]))
  }
})

/** Often begins as a flag does. */
const dashed = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom('', '', '-', '-y', '--json', '--'), text).map(parts => parts.join(''))
const nameText = dashed(
  fc.oneof(
    fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
    fc.string({
      minLength: 1,
      maxLength: 12,
      unit: fc.constantFrom("'", '"', ' ', '$', '`', '\\', '-', '!', ';', '\n', '=', ':', 'a', '&', '#', '~')
    })
  )
)
const visibleText = nameText.filter(text => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text))
const username = dashed(fc.stringMatching(/^[ -~]{1,30}$/))
const bias = fc.oneof(
  fc.double({ min: -1, minExcluded: true, max: 100, noNaN: true }),
  fc.constantFrom(-0.999_999_9, 1e-9, -1e-9, -0, 100)
)
const native = fc.bigInt(1n, 10n ** 30n).map(String)
const walletId = fc.constantFrom(SAVINGS, DAILY, 'unseen')
const pluginId = fc.stringMatching(/^[a-zA-Z][\w-]{0,20}$/)
const hexId = fc.stringMatching(/^[0-9a-f]{8}$/)
const code = dashed(fc.stringMatching(/^[!-~]{1,12}$/))

const quotesRequest = fc.record({
  fromWalletId: walletId,
  toWalletId: walletId,
  nativeAmount: native,
  quoteFor: fc.constantFrom('from', 'to', 'max')
})

const inputs: { readonly [K in Action['name']]: fc.Arbitrary<unknown> } = {
  'account.create': fc.record({ username, password: nameText, pin: nameText }, { requiredKeys: [] }),
  'account.login': fc.record({ username, password: nameText, pin: nameText }, { requiredKeys: ['username'] }),
  'account.logout': fc.record({ accountId: fc.constantFrom(ACCOUNT, 'dW5zZWVu') }),
  'account.move': fc.record({ accountId: fc.constant(ACCOUNT), password: nameText }),
  'wallet.create': fc.record(
    {
      accountId: fc.constant(ACCOUNT),
      walletType: fc.stringMatching(/^wallet:[\w-]{1,20}$/),
      name: nameText,
      fiatCurrencyCode: fc.constantFrom('iso:EUR', 'iso:USD')
    },
    { requiredKeys: ['accountId', 'walletType'] }
  ),
  'wallet.receive': fc.record(
    { walletId, index: fc.integer({ min: 0, max: 1_000_000 }), nativeAmount: native, label: nameText },
    { requiredKeys: ['walletId'] }
  ),
  'wallet.methods': fc.record({ walletId }),
  'wallet.call': fc.record(
    {
      walletId,
      name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,20}$/),
      args: fc.dictionary(nameText, nameText).map(args => JSON.stringify(args))
    },
    { requiredKeys: ['walletId', 'name'] }
  ),
  'message.sign': fc.record(
    { walletId, message: visibleText, publicAddress: nameText, format: fc.constantFrom('legacy', 'bip322') },
    { requiredKeys: ['walletId', 'message'] }
  ),
  'message.verify': fc.record({
    pluginId,
    message: visibleText,
    publicAddress: nameText,
    signature: nameText
  }),
  'account.list': fc.constant({}),
  'wallet.list': fc.record(
    { accountId: fc.constant(ACCOUNT), withArchived: fc.boolean(), limit: fc.integer({ min: 1, max: 200 }) },
    { requiredKeys: [] }
  ),
  'wallet.get': fc.record({ walletId }),
  'wallet.addresses': fc.record({ walletId }),
  'wallet.parse': fc.record({ walletId, uri: nameText }),
  'wallet.types': fc.constant({}),
  'token.list': fc.record({ accountId: fc.constant(ACCOUNT), pluginId, walletId }),
  'swap.providers': fc.record({ accountId: fc.constant(ACCOUNT) }),
  'engine.list': fc.constant({}),
  'repo.list': fc.constant({}),
  'tx.list': fc.record(
    {
      ...{
        walletId,
        search: nameText,
        limit: fc.integer({ min: 1, max: 100 }),
        before: hexId,
        tokenId: hexId
      },
      ...{ since: fc.integer({ min: 0, max: 4e12 }), until: fc.integer({ min: 0, max: 4e12 }) },
      ...{
        state: fc.constantFrom('confirmed', 'unconfirmed'),
        direction: fc.constantFrom('in', 'out')
      }
    },
    { requiredKeys: ['walletId'] }
  ),
  'tx.get': fc.record({ walletId, txid: hexId }),
  'spend.open': fc.record({ walletId }),
  'rates.value': fc.record({ walletId, nativeAmount: native, to: code }),
  'rates.providers': fc.constant({}),
  'engine.pause': fc.record({ walletId }),
  'engine.resume': fc.record({ walletId }),
  'engine.resync': fc.record({ walletId }),
  'repo.sync': fc.record({ repoId: hexId }),
  'spend.draft': fc.record(
    {
      walletId,
      publicAddress: nameText,
      nativeAmount: native,
      fee: fc.constantFrom('low', 'standard', 'high'),
      memos: fc.array(fc.record({ type: fc.constant('text'), value: nameText }), { maxLength: 2 }),
      notes: fc.record({ name: nameText, notes: nameText }),
      withUnconfirmed: fc.boolean()
    },
    { requiredKeys: ['walletId', 'publicAddress', 'nativeAmount'] }
  ),
  'spend.max': fc.record(
    { walletId, tokenId: dashed(nameText), publicAddress: nameText },
    { requiredKeys: ['walletId', 'publicAddress'] }
  ),
  'spend.approve': fc.constant({ draftId: 'spend' }),
  'spend.discard': fc.constant({ draftId: 'spend' }),
  'approval.request': fc.constant({ draftId: 'spend' }),
  'approval.wait': fc.constant({ draftId: 'spend' }),
  'approval.cancel': fc.constant({ draftId: 'spend' }),
  'spend.resend': fc.record({ walletId, txid: hexId }),
  'spend.replace': fc.record(
    { walletId, txid: hexId, fee: fc.constantFrom('low', 'standard', 'high') },
    { requiredKeys: ['walletId', 'txid'] }
  ),
  'coin.list': fc.record({ walletId }),
  'coin.change': fc.record({ walletId, coin: fc.constant('abcd:1'), isFrozen: fc.boolean() }),
  'spend.bump': fc.record({ walletId, txid: hexId }),
  'spend.sweep': fc.record({ walletId, privateKeys: fc.constant(['k']), withUnconfirmed: fc.boolean() }),
  'spend.forget': fc.record({ walletId, txid: hexId, confirm: hexId }),
  'swap.ask': quotesRequest,
  'swap.compare': quotesRequest,
  'swap.quotes': fc.record({ roundId: hexId }),
  'swap.close': fc.record({ roundId: hexId }),
  'swap.review': fc.record({ quoteId: hexId }),
  'swap.approve': fc.constant({ draftId: 'swap' }),
  'swap.discard': fc.constant({ draftId: 'swap' }),
  'policy.list': fc.record({ accountId: fc.constant(ACCOUNT) }),
  'proposal.list': fc.constant({}),
  'proposal.review': fc.record({ proposalId: hexId }),
  'proposal.decline': fc.record({ proposalId: hexId }),
  'swap.enable': fc.record({ accountId: fc.constant(ACCOUNT), pluginId, isEnabled: fc.boolean() }),
  'rates.route': fc.record(
    {
      from: code,
      to: code,
      biases: fc.dictionary(pluginId, bias),
      alternatives: fc.integer({ min: 0, max: 20 })
    },
    { requiredKeys: ['from', 'to'] }
  ),
  'rates.refresh': fc.constant({}),
  'world.fund': fc.record({ walletId, nativeAmount: native }),
  'world.mine': fc.record({ pluginId, count: fc.integer({ min: 1, max: 10_000 }) }),
  'world.network': fc.record({ isOnline: fc.boolean() })
}

const anyAction = fc.oneof(
  ...actions
    .filter(({ faces }) => !(typeof faces.cli === 'object' && 'none' in faces.cli))
    .map(({ name }) => inputs[name].map(made => ({ name, input: made }) as Action))
)
const anyNames = fc.tuple(fc.option(nameText), fc.option(nameText))
const anyUsers = fc.array(dashed(fc.stringMatching(/^[!-~]{1,10}$/)), { minLength: 1, maxLength: 3 })

test('whatever names and texts an action holds, a shell and the real parser read its command correctly', t => {
  const cases = fc.sample(fc.tuple(anyAction, anyNames, anyUsers, fc.constantFrom(...KNOWN)), {
    numRuns: 1500,
    seed: 20_261_122
  })
  const lines = cases.map(([action, names, users, unit]) => {
    const drafts = new Map<string, SpendDraftInput>([
      ['spend', DRAFT],
      ['swap', { quoteId: 'abc-1' }]
    ])
    const book = bookOf({ names, users, unit }, { ...NOTHING, drafts })
    return lineOf(action, book)
  })
  for (const line of lines) t.notRegex(line, /\p{Cc}/u)
  const parsed = parseAll(t, lines)
  t.is(parsed.length, cases.length)
  for (const [index, { name, args, flags }] of parsed.entries()) {
    const [{ name: action, input }, , users] = cases[index] as (typeof cases)[number]
    t.true(actionNames.has(action))
    const amount = flags.amount ?? (name === 'fake chain fund' || name === 'amount' ? args[1] : undefined)
    const texts = Array.isArray(amount) ? (amount as string[]) : amount === undefined ? [] : [String(amount)]
    for (const text of texts)
      if (!isMax(text) && 'nativeAmount' in input)
        t.is(parseAmount(text, UNITS), nativeAmount(String(input.nativeAmount)))
    if (action === 'account.create' && input.username !== undefined)
      t.is(normalizeUsername(args[0] ?? ''), normalizeUsername(input.username))
    if (action === 'wallet.create' && input.name !== undefined && !/[\p{C}\p{Zl}\p{Zp}]/u.test(input.name))
      t.is(flags.name, input.name)
    if (action === 'spend.max' && input.tokenId !== undefined && !/[\p{C}\p{Zl}\p{Zp}]/u.test(input.tokenId))
      t.is(flags.token, input.tokenId)
    if (action === 'message.sign' || action === 'message.verify') t.is(flags.message, input.message)
    if (action === 'world.mine') t.is(parseCount(args[0] ?? '', 'count', [1, 10_000]), input.count)
    if (action === 'rates.route') {
      t.deepEqual(
        args.map(text => text?.trim()),
        [input.from, input.to]
      )
      const biases = Object.values(parsePairs((flags.bias as string[] | undefined) ?? [], 'bias'))
      t.is(biases.length, Object.keys(input.biases ?? {}).length)
      for (const bias of biases) t.regex(bias, /^-?\d{1,3}(\.\d{1,6})?$/)
      for (const bias of biases) t.true(Number(bias) > -1)
    }
    if (users.length > 1 && action === 'engine.pause' && args[0] !== 'unseen') t.is(flags.account, users[0])
  }
})

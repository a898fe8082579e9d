import test from 'ava'
import fc from 'fast-check'
import { ActionError } from '../../../app/actions/action-error.ts'
import type { ActionName } from '../../../app/actions/actions.ts'
import { actionNames, readInput } from '../../../app/actions/actions.ts'
import { isWalletError } from '../../../kernel/index.ts'
import { makeRich, openStage } from '../../helpers/action-stage.ts'

/** What a payment may have besides its payee and its amount. */
const TERMS = {
  ...{ customFee: { satPerByte: '5' }, memos: [{ type: 'hex', value: 'cafe' }], notes: { name: 'Bob' } },
  ...{ withUnconfirmed: true, replaces: 'ab' }
}

/** What a swap may have besides its sides and its amount. */
const CHOICE = {
  ...{ fromTokenId: 't', toTokenId: 's', preferPluginId: 'changenow', preferType: 'DEX' },
  ...{ disabled: ['sideshift'], promoCodes: { changenow: 'AB' }, waitMs: 5000 }
}

/** An input that each action takes, with all its fields. */
const GOOD: { readonly [K in ActionName]: Readonly<Record<string, unknown>> } = {
  'account.create': { username: 'alice', password: 'correct horse', pin: '1234' },
  'account.login': { username: 'alice', loginId: 'a+/=', password: 'correct horse', pin: '1234' },
  'account.move': { accountId: 'a', password: 'correct horse' },
  'account.logout': { accountId: 'a+/=' },
  'wallet.create': {
    accountId: 'a',
    walletType: 'wallet:bitcoin',
    name: 'Savings',
    fiatCurrencyCode: 'iso:EUR',
    keyOptions: { a: 'b' }
  },
  'wallet.receive': {
    ...{ walletId: 'w', tokenId: 't', index: 3, nativeAmount: '1' },
    ...{ label: 'Ann', message: 'for lunch' }
  },
  'wallet.methods': { walletId: 'w' },
  'wallet.call': { walletId: 'w', name: 'getFee', args: '{}' },
  'message.sign': { walletId: 'w', message: 'I am Ann', publicAddress: 'bc1q', format: 'legacy' },
  'message.verify': { pluginId: 'bitcoin', message: 'I am Ann', publicAddress: 'bc1q', signature: 'smp' },
  'wallet.types': {},
  'token.list': { accountId: 'a', walletId: 'w', pluginId: 'bitcoin', offset: 1, limit: 500 },
  'swap.providers': { accountId: 'a' },
  'account.list': {},
  'wallet.list': { accountId: 'a', withArchived: true, offset: 1, limit: 200 },
  'wallet.get': { walletId: 'w' },
  'wallet.addresses': { walletId: 'w', offset: 0, limit: 1 },
  'wallet.parse': { walletId: 'w', uri: 'bitcoin:bc1q' },
  'engine.list': { offset: 1, limit: 500 },
  'repo.list': { offset: 1, limit: 500 },
  'tx.list': {
    ...{ walletId: 'w', tokenId: 't', since: 1, until: 2, state: 'confirmed', direction: 'in' },
    ...{ search: 'rent', limit: 100, before: 'ab' }
  },
  'tx.get': { walletId: 'w', txid: 'ab', tokenId: 't' },
  'spend.open': { walletId: 'w' },
  'swap.quotes': { roundId: 'r' },
  'rates.value': { walletId: 'w', tokenId: 't', nativeAmount: '1', to: 'iso:EUR' },
  'rates.providers': {},
  'engine.pause': { walletId: 'w' },
  'engine.resume': { walletId: 'w' },
  'engine.resync': { walletId: 'w' },
  'repo.sync': { repoId: 'r' },
  'spend.draft': {
    ...{ walletId: 'w', tokenId: 't', publicAddress: 'bitcoin:bc1q?amount=1' },
    ...{ nativeAmount: '1', fee: 'low', ...TERMS },
    others: [{ publicAddress: 'bc1p', nativeAmount: '2' }]
  },
  'spend.max': { walletId: 'w', tokenId: 't', publicAddress: 'bc1q', fee: 'high', ...TERMS },
  'spend.approve': { draftId: 'd', maxNetworkFee: '0', again: ['ab'] },
  'spend.discard': { draftId: 'd' },
  'approval.request': { draftId: 'd' },
  'approval.wait': { draftId: 'd' },
  'approval.cancel': { draftId: 'd' },
  'spend.resend': { walletId: 'w', txid: 'ab', again: ['cd'] },
  'spend.replace': { walletId: 'w', txid: 'ab', fee: 'high', customFee: { satPerByte: '5' } },
  'spend.forget': { walletId: 'w', txid: 'ab', confirm: 'ab' },
  'coin.list': { walletId: 'w', offset: 0, limit: 10, coins: ['ab:0'] },
  'coin.change': { walletId: 'w', coin: 'ab:0', isFrozen: true, label: 'x' },
  'spend.bump': { walletId: 'w', txid: 'ab', fee: 'high', customFee: { satPerByte: '5' } },
  'spend.sweep': { walletId: 'w', privateKeys: ['k'], fee: 'low', withUnconfirmed: true, maxNetworkFee: '9' },
  'swap.ask': { fromWalletId: 'w', toWalletId: 'v', nativeAmount: '0', quoteFor: 'max', ...CHOICE },
  'swap.compare': { fromWalletId: 'w', toWalletId: 'v', nativeAmount: '0', quoteFor: 'max', ...CHOICE },
  'swap.close': { roundId: 'r' },
  'swap.review': { quoteId: 'q-1' },
  'swap.approve': { draftId: 'd', maxNetworkFee: '1', again: [] },
  'swap.discard': { draftId: 'd' },
  'swap.enable': { accountId: 'a', pluginId: 'sideshift', isEnabled: false },
  'rates.route': { from: 'BTC', to: 'iso:EUR', biases: { kraken: -0.5 }, alternatives: 20 },
  'rates.refresh': {},
  'policy.list': { accountId: 'a' },
  'proposal.list': {},
  'proposal.review': { proposalId: '1' },
  'proposal.decline': { proposalId: '1' },
  'world.fund': { walletId: 'w', nativeAmount: '1' },
  'world.mine': { pluginId: 'bitcoin', count: 10_000 },
  'world.network': { isOnline: true }
}

const OPTIONAL: Partial<Record<ActionName, readonly string[]>> = {
  'account.create': ['username', 'password', 'pin'],
  'account.login': ['username', 'loginId', 'password', 'pin'],
  'wallet.create': ['name', 'fiatCurrencyCode', 'keyOptions'],
  'wallet.receive': ['tokenId', 'index', 'nativeAmount', 'label', 'message'],
  'wallet.call': ['args'],
  'message.sign': ['publicAddress', 'format'],
  'token.list': ['walletId', 'offset', 'limit'],
  'wallet.list': ['accountId', 'withArchived', 'offset', 'limit'],
  'wallet.addresses': ['offset', 'limit'],
  'engine.list': ['offset', 'limit'],
  'repo.list': ['offset', 'limit'],
  'tx.list': ['tokenId', 'since', 'until', 'state', 'direction', 'search', 'limit', 'before'],
  'tx.get': ['tokenId'],
  'rates.value': ['tokenId'],
  'spend.draft': ['tokenId', 'fee', ...Object.keys(TERMS), 'others'],
  'spend.max': ['tokenId', 'fee', ...Object.keys(TERMS)],
  'spend.resend': ['again'],
  'swap.ask': Object.keys(CHOICE),
  'swap.compare': Object.keys(CHOICE),
  'spend.approve': ['maxNetworkFee', 'again'],
  'swap.approve': ['maxNetworkFee', 'again'],
  'spend.replace': ['fee', 'customFee'],
  'coin.list': ['offset', 'limit', 'coins'],
  'coin.change': ['isFrozen', 'label'],
  'spend.bump': ['fee', 'customFee'],
  'spend.sweep': ['fee', 'withUnconfirmed', 'maxNetworkFee'],
  'rates.route': ['biases', 'alternatives']
}

const names = Object.keys(GOOD) as ActionName[]

const refusalOf = (name: unknown, input: unknown): ActionError => {
  try {
    readInput(name as ActionName, input)
  } catch (error) {
    if (error instanceof ActionError) return error
    throw error
  }
  throw new Error(`${String(name)} takes this`)
}

test('an input is read with the fields of its action, and no others', t => {
  t.deepEqual([...names].sort(), [...actionNames].sort())
  for (const name of names) {
    t.deepEqual(readInput(name, { ...GOOD[name], other: 1, undef: undefined }), GOOD[name] as never)
    t.deepEqual(
      readInput(name, Object.assign(Object.create({ draftId: 'inherited' }), GOOD[name])),
      GOOD[name] as never
    )
    for (const field of Object.keys(GOOD[name])) {
      const { [field]: _, ...rest } = GOOD[name]
      if (OPTIONAL[name]?.includes(field) === true) {
        t.deepEqual(readInput(name, rest), rest as never)
        t.deepEqual(readInput(name, { ...rest, [field]: undefined }), rest as never)
      } else t.deepEqual(refusalOf(name, rest).details, { field })
    }
  }
})

const BAD: readonly (readonly [ActionName, string, unknown])[] = [
  ['account.create', 'username', 'a'.repeat(101)],
  ['account.create', 'password', ''],
  ['account.create', 'pin', 1234],
  ['account.login', 'password', 'hunter2'.repeat(1000)],
  ['account.login', 'username', '\ud800'],
  ['wallet.create', 'walletType', 'bitcoin'],
  ['wallet.create', 'walletType', '-wallet:bitcoin'],
  ['wallet.receive', 'walletId', '../../etc'.replaceAll('.', '\0')],
  ['wallet.receive', 'walletId', 'two words'],
  ['spend.draft', 'nativeAmount', '0'],
  ['spend.draft', 'nativeAmount', '-1'],
  ['spend.draft', 'nativeAmount', '1.5'],
  ['spend.draft', 'nativeAmount', '1e5'],
  ['spend.draft', 'nativeAmount', '0x10'],
  ['spend.draft', 'nativeAmount', ' 1'],
  ['spend.draft', 'nativeAmount', '9'.repeat(101)],
  ['spend.draft', 'nativeAmount', 1000],
  ['spend.draft', 'nativeAmount', 1000n],
  ['spend.draft', 'fee', 'custom'],
  ['spend.approve', 'again', true],
  ['spend.approve', 'again', 'ab'],
  ['spend.approve', 'again', ['two words']],
  ['spend.approve', 'again', { 0: 'ab', length: 1 }],
  ['spend.forget', 'confirm', ''],
  ['spend.resend', 'txid', 'two words'],
  ['swap.ask', 'quoteFor', 'all'],
  ['swap.ask', 'nativeAmount', '-1'],
  ['swap.enable', 'isEnabled', 'false'],
  ['swap.enable', 'pluginId', '__proto__'],
  ['rates.route', 'biases', { kraken: -1 }],
  ['rates.route', 'biases', { kraken: Number.NaN }],
  ['rates.route', 'biases', { kraken: Number.POSITIVE_INFINITY }],
  ['rates.route', 'biases', JSON.parse('{"__proto__": 1}')],
  ['rates.route', 'biases', []],
  ['rates.route', 'alternatives', 21],
  ['rates.route', 'alternatives', 0.5],
  ['world.mine', 'count', 0],
  ['world.mine', 'count', 10_001],
  ['world.mine', 'count', '5'],
  ['world.network', 'isOnline', null]
]

test('a field that is wrong is named, and its value is not', t => {
  for (const [name, field, value] of BAD) {
    const { code, message, details } = refusalOf(name, { ...GOOD[name], [field]: value })
    t.is(code, 'BAD_MESSAGE')
    t.deepEqual(details, { field })
    t.true(message.includes(field))
    t.notRegex(message, /hunter2|two words|bitcoin:/)
  }
  for (const input of [undefined, null, [], 'text', 5])
    t.deepEqual(refusalOf('rates.refresh', input).details, { field: 'input' })
  for (const name of ['', 'spend', 'toString', '__proto__', 5, null, {}, ['spend.draft']])
    t.deepEqual(refusalOf(name, {}).details, { field: 'name' })
})

const MARK = 'hunter2-of-mine'

/** Anything, with a secret somewhere in it. */
const junk = fc.oneof(
  fc.anything(),
  fc.constant({ [MARK]: MARK }),
  fc.constant([MARK]),
  fc.string().map(text => `${text} ${MARK} ${text}`)
)

test('whatever a panel sends, it is refused by name or taken, and no refusal repeats a secret', t => {
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.array(fc.tuple(fc.nat(), junk), { maxLength: 3 }),
      junk,
      (name, swaps, all) => {
        const input: Record<string, unknown> = { ...GOOD[name] }
        const fields = Object.keys(input)
        for (const [at, value] of swaps)
          if (fields.length > 0) input[fields[at % fields.length] ?? ''] = value
        for (const sent of [input, all]) {
          try {
            readInput(name, sent)
          } catch (error) {
            if (!(error instanceof ActionError)) throw error
            t.is(error.code, 'BAD_MESSAGE')
            t.false(`${error.message}${JSON.stringify(error)}`.includes(MARK))
          }
        }
      }
    ),
    { numRuns: 2000 }
  )
  t.pass()
})

test('a kernel that is sent junk for its real wallets and drafts answers with known errors, and signs nothing', async t => {
  const stage = await openStage(t)
  const { runAction, kernel } = stage
  const { accountId, walletId } = await makeRich(stage)
  const { publicAddress } = await runAction('wallet.receive', { walletId })
  const { draftId } = await runAction('spend.draft', {
    walletId,
    publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    nativeAmount: '1000'
  })
  const id = fc.constantFrom(accountId, walletId, draftId, draftId.toUpperCase(), 'none', publicAddress)
  const text = fc.oneof(
    id,
    fc.string({ unit: 'binary' }),
    fc.constantFrom('1', '0', '999999999999', 'low', MARK)
  )
  const value = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: junk })
  // What would rightly sign, leave, or take its time is left out.
  const tried = names.filter(
    name => !['account.create', 'spend.approve', 'spend.discard', 'account.logout'].includes(name)
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...tried),
      fc.array(value, { minLength: 5, maxLength: 5 }),
      async (name, values) => {
        if (name.startsWith('world.') || name === 'engine.resync' || name === 'wallet.create') return
        const input = Object.fromEntries(Object.keys(GOOD[name]).map((field, at) => [field, values[at]]))
        try {
          await runAction(name, input as never)
        } catch (error) {
          if (!(error instanceof ActionError) && !isWalletError(error)) throw error
          if (error.code === 'BAD_MESSAGE') t.false(JSON.stringify([error.message, error]).includes(MARK))
        }
      }
    ),
    { numRuns: 300 }
  )
  const [account] = kernel.context.accounts
  t.is(account?.id, accountId)
  t.is((await stage.wallet(walletId).getTransactions()).length, 1)
  t.deepEqual(stage.wallet(walletId).unfinishedSpends(), [])
  t.truthy((await runAction('spend.approve', { draftId })).txid)
})

import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyWallet,
  type EngineTransaction,
  nativeAmount,
  type Plugin,
  type SpendInfo,
  type SpendSnapshot,
  WalletError
} from '../../../kernel/index.ts'
import { requestKeys } from '../../../kernel/keys/key-gate.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { spendRules } from '../../../plugins/policy/spend-rules.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeToy, type ToyOptions } from '../../helpers/toy-currency.ts'

const TARGETS = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
const PAY: SpendInfo = { tokenId: null, spendTargets: TARGETS }
const FOREIGN = 'foreign key'
/** The name of a currency whose engine signs sweeps at once. */
const SIGNS_AT_ONCE = 'Toy that signs at once'
const PASSWORD = 'Correct horse 1'
/** What a toy wallet can be split into, where the plugin of that type is there. */
const SIDE_TYPE = 'wallet:sidecoin'

interface Home {
  readonly account: Account
  readonly wallet: CurrencyWallet
  /** Every call of an engine or of the tools that got private keys. */
  readonly given: string[]
  readonly requested: SpendSnapshot[]
  /** The uses that the policy refuses. */
  readonly refused: Set<string>
}

const openHome = async (
  t: ExecutionContext,
  info: ToyOptions['info'] = {},
  others: readonly Plugin[] = []
): Promise<Home> => {
  const isSigningAtOnce = info?.displayName === SIGNS_AT_ONCE
  const given: string[] = []
  const requested: SpendSnapshot[] = []
  const refused = new Set<string>()
  const note = (call: string, keys: unknown): void => {
    if (keys !== undefined) given.push(call)
  }
  const toy = makeToy({
    info,
    tools: {
      getSplittableTypes: async () => [SIDE_TYPE],
      async getDisplayPrivateKey({ keys }) {
        note('getDisplayPrivateKey', keys)
        return String(keys.toyKey)
      }
    },
    engine: good => ({
      async syncNetwork(argument) {
        note('syncNetwork', argument.privateKeys)
        await good.syncNetwork(argument)
        return 100
      },
      async makeSpend(spend, argument) {
        note('makeSpend', argument.privateKeys)
        return good.makeSpend(spend, argument)
      },
      async signTx(tx, keys) {
        note('signTx', keys)
        return good.signTx(tx, keys)
      },
      async broadcastTx(tx, argument) {
        note('broadcastTx', argument.privateKeys)
        return good.broadcastTx(tx, argument)
      },
      async signMessage(_message, keys) {
        note('signMessage', keys)
        return 'signature'
      },
      async sweepPrivateKeys(spend, keys) {
        const draft = await good.makeSpend(spend, {})
        const swept = { ...draft, nativeAmount: nativeAmount('5'), ourReceiveAddresses: ['mine'] }
        if (!isSigningAtOnce) return swept
        note('sweepPrivateKeys', keys)
        return { ...swept, txid: 'swept', signedTx: 'swept' }
      },
      ...(!isSigningAtOnce && {
        async signSweep(draft: EngineTransaction, keys: readonly string[]) {
          note('signSweep', keys)
          return { ...draft, txid: 'swept', signedTx: 'swept' }
        }
      })
    })
  })
  const policy: Plugin = {
    kind: 'policy',
    id: 'guard',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('guard', async question => {
        requested.push(question)
        if (refused.has(question.use))
          throw new WalletError('SIGN_REFUSED', { pluginId: 'guard', reason: 'no' })
      })
  }
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [toy.plugin, policy, spendRules, ...others]
  })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({ username: 'tess', password: PASSWORD })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  return { account, wallet, given, requested, refused }
}

const USES: readonly {
  readonly use: SpendSnapshot['use']
  /** What gets the keys; '' for none but the caller. */
  readonly call: string
  readonly facts: Partial<SpendSnapshot>
  runAction(home: Home): Promise<unknown>
}[] = [
  {
    use: 'spend',
    call: 'signTx',
    facts: { nativeAmount: '5', networkFee: '1', targets: TARGETS },
    runAction: async ({ wallet }) => wallet.spend(await wallet.makeSpend(PAY))
  },
  {
    use: 'message',
    call: 'signMessage',
    facts: { message: 'it is me', nativeAmount: '0', targets: [] },
    runAction: ({ wallet }) => wallet.signMessage('it is me')
  },
  {
    use: 'sweep',
    call: 'signSweep',
    facts: {
      nativeAmount: '5',
      networkFee: '1',
      targets: [{ publicAddress: 'mine', nativeAmount: nativeAmount('5') }]
    },
    runAction: ({ wallet }) => wallet.sweepPrivateKeys({ ...PAY, privateKeys: [FOREIGN] })
  },
  {
    use: 'show',
    call: 'getDisplayPrivateKey',
    facts: { nativeAmount: '0', targets: [] },
    runAction: ({ account, wallet }) => account.walletKeys.getDisplayPrivateKey(wallet.id)
  },
  {
    use: 'show',
    call: '',
    facts: { nativeAmount: '0', targets: [] },
    runAction: ({ account, wallet }) => account.walletKeys.getRawPrivateKey(wallet.id)
  }
]

for (const { use, call, facts, runAction } of USES) {
  test(`policies run before keys are used for ${use} (${call || 'no engine call'}), and a refusal reveals nothing`, async t => {
    const home = await openHome(t)
    const { wallet, given, requested, refused } = home
    refused.add(use)
    await t.throwsAsync(runAction(home), { code: 'SIGN_REFUSED' })
    t.deepEqual(given, [])
    t.like(requested, {
      length: 1,
      0: { use, walletId: wallet.id, pluginId: 'toycoin', currencyCode: 'TOY', ...facts }
    })
    refused.clear()
    await runAction(home)
    t.deepEqual(given, call === '' ? [] : [call])
    t.is(requested.length, 2)
    t.false(JSON.stringify(requested).includes(FOREIGN))
  })
}

test('an engine that signs a sweep at once gets the keys after a question without its fee', async t => {
  const { wallet, given, requested, refused } = await openHome(t, { displayName: SIGNS_AT_ONCE })
  const sweep = () => wallet.sweepPrivateKeys({ ...PAY, privateKeys: [FOREIGN] })
  refused.add('sweep')
  await t.throwsAsync(sweep(), { code: 'SIGN_REFUSED' })
  t.deepEqual([requested.length, given.length], [1, 0])
  refused.clear()
  await sweep()
  t.deepEqual(given, ['sweepPrivateKeys'])
  t.deepEqual(
    requested.slice(1).map(({ use, networkFee }) => [use, networkFee]),
    [['sweep', '0']]
  )
})

test('a policy sees which program asks for a payment, and the payment keeps that name', async t => {
  const { account, wallet, requested, refused } = await openHome(t)
  const rule = { id: 'own', kind: 'per-payment', asset: wallet.currencyInfo.pluginId, max: '100' }
  await account.policies.add({ ...rule, client: 'shopper' }, { password: PASSWORD })
  refused.add('spend')
  const draft = await wallet.makeSpend(PAY)
  await t.throwsAsync(wallet.spend(draft, { requestedBy: 'shopper' }), { code: 'SIGN_REFUSED' })
  t.is(requested.at(-1)?.requestedBy, 'shopper')
  refused.clear()
  const signed = await wallet.signTx(draft, { requestedBy: 'shopper' })
  t.is(wallet.unfinishedSpends()[0]?.requestedBy, 'shopper')
  await wallet.broadcastTx(signed)
  t.is(wallet.unfinishedSpends()[0]?.requestedBy, 'shopper')
  for (const wrong of ['', 'x'.repeat(2000), 7 as unknown as string])
    await t.throwsAsync(wallet.spend(draft, { requestedBy: wrong }), { code: 'OPTION_INVALID' })
})

test('policies are called before the login key of an account is shown', async t => {
  const { account, requested, refused } = await openHome(t)
  refused.add('login key')
  await t.throwsAsync(account.getLoginKey(), { code: 'SIGN_REFUSED' })
  t.like(requested, { length: 1, 0: { use: 'login key', walletId: '', pluginId: '' } })
  refused.clear()
  t.true((await account.getLoginKey()).length > 30)
})

test('policies are called before a backup, which has all keys of an account, is made', async t => {
  const { account, requested, refused } = await openHome(t)
  refused.add('backup')
  await t.throwsAsync(account.location.makeBackup(), { code: 'SIGN_REFUSED' })
  t.like(requested, { length: 1, 0: { use: 'backup', walletId: '', pluginId: '' } })
  refused.clear()
  t.true((await account.location.makeBackup()).length > 100)
})

test('an engine that needs keys to sync, draft and send gets them only if the policies agree', async t => {
  const needs = { needsKeysToSync: true, needsKeysToSpend: true, needsKeysToBroadcast: true }
  const { wallet, given, requested, refused } = await openHome(t, needs)
  await waitFor(() => given.filter(call => call === 'syncNetwork').length > 2)
  t.is(requested.filter(({ use }) => use === 'sync').length, 1, 'asked once for each start')
  refused.add('draft')
  await t.throwsAsync(wallet.makeSpend(PAY), { code: 'SIGN_REFUSED' })
  await t.throwsAsync(wallet.getMaxSpendable(PAY), { code: 'SIGN_REFUSED' })
  t.false(given.includes('makeSpend'))
  t.like(
    requested.findLast(({ use }) => use === 'draft'),
    { nativeAmount: '5', targets: TARGETS }
  )
  refused.clear()
  const draft = await wallet.makeSpend(PAY)
  refused.add('broadcast')
  await t.throwsAsync(wallet.spend(draft), { code: 'BROADCAST_UNKNOWN' })
  t.deepEqual([given.includes('signTx'), given.includes('broadcastTx')], [true, false])
  refused.add('sync')
  await wallet.changePaused(true)
  const before = given.length
  await wallet.changePaused(false)
  await waitFor(() => wallet.engine.getSnapshot().failure !== undefined)
  t.is(given.length, before)
})

test('an engine is not synced whose wallet was paused while a policy thought about the keys', async t => {
  let answer = (): void => {}
  let thinks = false
  const slow: Plugin = {
    kind: 'policy',
    id: 'slow',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('slow', ({ use }) => {
        if (use !== 'sync') return Promise.resolve()
        thinks = true
        return new Promise(resolve => {
          answer = resolve
        })
      })
  }
  const { wallet, given } = await openHome(t, { needsKeysToSync: true }, [slow])
  await waitFor(() => thinks)
  await wallet.changePaused(true)
  answer()
  await setImmediate()
  await setImmediate()
  t.deepEqual(given, [])
})

test('opening a wallet, showing its public keys and a split call no policy', async t => {
  const { account, wallet, given, requested } = await openHome(t, {}, [makeToy({ id: 'sidecoin' }).plugin])
  await account.walletKeys.getRawPublicKey(wallet.id)
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  t.deepEqual(await account.listSplittableWalletTypes(wallet.id), [SIDE_TYPE])
  const split = await account.openWallet(await account.splitWallet(wallet.id, SIDE_TYPE))
  t.is(split.type, SIDE_TYPE)
  t.deepEqual([requested, given], [[], []])
  // The same policy is asked for a private key of the split wallet.
  await account.walletKeys.getRawPrivateKey(split.id)
  t.is(requested.length, 1)
})

test('policies see the id of the action that uses keys, or a new one if it has none', async t => {
  const seen: SpendSnapshot[] = []
  const hooks = { beforeSign: { promise: async (question: SpendSnapshot) => void seen.push(question) } }
  const services = { hooks, io: makeNodeIo(), plugins: {} } as unknown as Parameters<typeof requestKeys>[0]
  const rules = { check: async (): Promise<void> => {} }
  await requestKeys(services, rules, { use: 'spend', correlationId: 'mine' })
  await requestKeys(services, rules, { use: 'spend' })
  await requestKeys(services, rules, { use: 'spend' })
  const [own, ...made] = seen.map(({ correlationId }) => correlationId)
  t.is(own, 'mine')
  for (const id of made) t.regex(id, /^[0-9a-f]{16}$/)
  t.is(new Set(made).size, 2)
})

const FAILURES: Readonly<Record<string, () => void | Promise<void>>> = {
  'throws in apply': () => {
    throw new Error('no list of payees')
  },
  'throws later, in an apply that is asynchronous': async () => {
    await Promise.resolve()
    throw new Error('no list of payees')
  }
}

for (const [what, fail] of Object.entries(FAILURES)) {
  test(`with a policy that ${what}, an account opens and nothing is signed or shown`, async t => {
    const broken: Plugin = { kind: 'policy', id: 'payees', apply: fail }
    const { account, wallet, given } = await openHome(t, {}, [broken])
    const draft = await wallet.makeSpend(PAY)
    const refusal = {
      code: 'SIGN_REFUSED',
      message: /policy payees refused to sign: it is not loaded: no list of payees/
    }
    await t.throwsAsync(wallet.spend(draft), refusal)
    await t.throwsAsync(wallet.signMessage('hello'), refusal)
    await t.throwsAsync(account.getLoginKey(), refusal)
    t.deepEqual(given, [])
  })
}

test('with a policy that failed, an engine that needs keys for that is still synced, drafts, and sends what was signed before', async t => {
  const broken: Plugin = {
    kind: 'policy',
    id: 'payees',
    apply() {
      throw new Error('no list of payees')
    }
  }
  const needs = { needsKeysToSync: true, needsKeysToSpend: true, needsKeysToBroadcast: true }
  const { wallet, given } = await openHome(t, needs, [broken])
  await waitFor(() => given.includes('syncNetwork'))
  const draft = await wallet.makeSpend(PAY)
  await wallet.broadcastTx({ ...draft, txid: 'txid-before', signedTx: 'signed before' })
  t.deepEqual([...new Set(given)].sort(), ['broadcastTx', 'makeSpend', 'syncNetwork'])
})

test('while the apply of a policy has not ended, nothing is signed; then it judges', async t => {
  let finish = (): void => {}
  const waiting = new Promise<void>(resolve => {
    finish = resolve
  })
  let judged = 0
  const slow: Plugin = {
    kind: 'policy',
    id: 'slow',
    async apply({ hooks }) {
      await waiting
      hooks.beforeSign.tapPromise('slow', async () => {
        judged += 1
      })
    }
  }
  const { account } = await openHome(t, {}, [slow])
  await t.throwsAsync(account.getLoginKey(), {
    code: 'SIGN_REFUSED',
    message: /policy slow refused to sign: it is not loaded/
  })
  finish()
  await setImmediate()
  await account.getLoginKey()
  t.is(judged, 1)
})

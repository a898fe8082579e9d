import test from 'ava'
import type { CurrencyTools } from '../../../kernel/types/engine.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

const NO_KEY = { code: 'ENGINE_NO_KEY', message: 'The engine failed to return a key' }
const HIDDEN = { code: 'HIDDEN_KEYS', message: 'Not available when `hideKeys` is enabled' }

/** Tools whose keys are plain to see, and that remember what they were given. */
const plainTools = (seen: unknown[] = []): Partial<CurrencyTools> => ({
  createPrivateKey: async () => ({ toyKey: 'secret', format: 'a' }),
  async derivePublicKey(info) {
    seen.push(info)
    return { address: 'public' }
  },
  async getDisplayPrivateKey(info) {
    seen.push(info)
    return `words of ${info.keys.toyKey}`
  },
  async getDisplayPublicKey(info) {
    seen.push(info)
    return `watch ${info.keys.address}`
  }
})

test('keys are shown raw and as people write them, private and public; tools get exactly what they may have', async t => {
  const seen: unknown[] = []
  const toy = makeToy({ tools: plainTools(seen) })
  const { account } = await makeKnownUser(t).logIn({ plugins: [toy.plugin] })
  const { id, type } = await account.createCurrencyWallet('wallet:toycoin')
  const { walletKeys } = account
  const keys = await walletKeys.getRawPrivateKey(id)
  t.like(keys, { toyKey: 'secret', format: 'a', imported: false })
  seen.length = 0
  t.is(await walletKeys.getDisplayPrivateKey(id), 'words of secret')
  t.deepEqual(seen, [{ id, type, keys }])
  t.deepEqual(await walletKeys.getRawPublicKey(id), { address: 'public' })
  seen.length = 0
  t.is(await walletKeys.getDisplayPublicKey(id), 'watch public')
  t.deepEqual(seen, [
    { id, type, keys },
    { id, type, keys: { address: 'public' } }
  ])
})

test('with hideKeys on, private keys are hidden and public ones stay', async t => {
  const toy = makeToy({ tools: plainTools() })
  const { account } = await makeKnownUser(t).logIn({ plugins: [toy.plugin], hideKeys: true })
  const { id } = await account.createCurrencyWallet('wallet:toycoin')
  const { walletKeys } = account
  await t.throwsAsync(walletKeys.getRawPrivateKey(id), HIDDEN)
  await t.throwsAsync(walletKeys.getDisplayPrivateKey(id), HIDDEN)
  t.deepEqual(await walletKeys.getRawPublicKey(id), { address: 'public' })
  t.is(await walletKeys.getDisplayPublicKey(id), 'watch public')
})

test('a plugin that has no key to show: "The engine failed to return a key" [8.72]', async t => {
  const answers: Partial<CurrencyTools>[] = [
    {},
    { getDisplayPrivateKey: async () => '', getDisplayPublicKey: async () => '' },
    {
      getDisplayPrivateKey: async () => 5 as never,
      getDisplayPublicKey: async () => ({ key: 'x' }) as never
    }
  ]
  const toys = answers.map((tools, at) => makeToy({ id: `toy${at}`, tools }))
  const empty = makeToy({ id: 'empty', tools: { createPrivateKey: async () => undefined as never } })
  const mute = makeToy({ id: 'mute', tools: { derivePublicKey: async () => 'a key' as never } })
  const plugins = [...toys, empty, mute].map(({ plugin }) => plugin)
  const { account } = await makeKnownUser(t).logIn({ plugins })
  for (const at of answers.keys()) {
    const { id } = await account.createCurrencyWallet(`wallet:toy${at}`)
    await t.throwsAsync(account.walletKeys.getDisplayPrivateKey(id), NO_KEY)
    await t.throwsAsync(account.walletKeys.getDisplayPublicKey(id), NO_KEY)
  }
  await t.throwsAsync(account.createCurrencyWallet('wallet:empty'), NO_KEY)
  const muteWallet = await account.createCurrencyWallet('wallet:mute')
  await t.throwsAsync(account.walletKeys.getRawPublicKey(muteWallet.id), NO_KEY)
})

test('returned keys are a frozen copy, and none are returned after the logout', async t => {
  const { account } = await makeKnownUser(t).logIn({ plugins: [makeToy().plugin] })
  const { id } = await account.createCurrencyWallet('wallet:toycoin', {
    keys: { toyKey: '00', deep: { list: [1] } }
  })
  const { walletKeys } = account
  const first = (await walletKeys.getRawPrivateKey(id)) as { deep: { list: number[] } }
  t.throws(() => first.deep.list.push(2))
  t.not(await walletKeys.getRawPrivateKey(id), first as never)
  t.deepEqual((await walletKeys.getRawPrivateKey(id)).deep, { list: [1] })
  await account.logout()
  await t.throwsAsync(walletKeys.getRawPrivateKey(id), { code: 'LOGGED_OUT' })
  await t.throwsAsync(walletKeys.getDisplayPublicKey(id), { code: 'LOGGED_OUT' })
})

test('a Bitcoin wallet shows its words, and the account key of the addresses that it gives out', async t => {
  const { account } = await makeKnownUser(t).logIn()
  for (const [format, prefix] of [
    ['bip84', 'vpub'],
    ['bip49', 'vpub'],
    ['bip44', 'tpub']
  ] as const) {
    const { id } = await account.createCurrencyWallet('wallet:bitcoin', { keyOptions: { format } })
    const { bitcoinKey } = await account.walletKeys.getRawPrivateKey(id)
    t.is(await account.walletKeys.getDisplayPrivateKey(id), String(bitcoinKey))
    t.is((await account.walletKeys.getDisplayPublicKey(id)).slice(0, 4), prefix)
  }
})

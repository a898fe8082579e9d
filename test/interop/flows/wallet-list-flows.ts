import type { ChainTransaction } from '../chain-transaction.ts'
import { seesTheSame } from '../differences.ts'
import type { Flow } from '../flow.ts'
import { makeKnownAccount } from '../known-account.ts'

/** Which wallets an account has, and where their keys come from. */
export const walletListFlows: readonly Flow[] = [
  {
    row: 'wallets and their states',
    title:
      'USER lists the wallets that MAKER made, one or many at once, and each sees how the other orders them',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [first = ''] = await maker.createWallets([
        { type: 'wallet:labcoin', name: 'Épargne 1', fiatCurrencyCode: 'iso:CHF', seed: 'first' }
      ])
      const [second = '', third = '', fourth = ''] = await maker.createWallets([
        { type: 'wallet:labcoin', name: 'Second', fiatCurrencyCode: 'iso:JPY' },
        { type: 'wallet:labcash', name: 'Third' },
        { type: 'wallet:labcoin', fiatCurrencyCode: 'iso:EUR', migratedFromWalletId: first }
      ])
      // The published core syncs the files of active wallets only.
      await maker.sync()
      await maker.changeWalletStates({
        [first]: { sortIndex: 5 },
        [second]: { sortIndex: 1, hidden: true },
        [third]: { archived: true, sortIndex: 2 },
        [fourth]: { sortIndex: 0 }
      })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await seesTheSame(t, maker, user)

      await user.changeWallet(first, { name: 'Renommé 🏦', fiatCurrencyCode: 'iso:MXN' })
      await user.sync()
      await user.changeWalletStates({
        [first]: { archived: true },
        [second]: { hidden: false, sortIndex: 9 },
        [third]: { archived: false },
        [fourth]: { deleted: true }
      })
      await user.sync()
      await account.logInAgain(maker)
      await seesTheSame(t, user, maker)
      await maker.changeWalletStates({ [first]: { archived: false }, [fourth]: { deleted: false } })
      await maker.sync()
      await account.logInAgain(user)
      await seesTheSame(t, maker, user)
      t.like((await user.picture()).wallets, {
        [first]: { archived: false, sortIndex: 5, open: { name: 'Renommé 🏦', fiatCurrencyCode: 'iso:MXN' } },
        [second]: { hidden: false, sortIndex: 9 },
        [fourth]: { deleted: false, migratedFromWalletId: first, sortIndex: 0 }
      })
    }
  },
  {
    row: 'keys of every type',
    title: 'USER lists the keys that MAKER added under types that are no wallets or that no plugin knows',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [source = ''] = await maker.createWallets([{ type: 'wallet:labcoin', seed: 'the seed' }])
      const ids = [
        await maker.createKeys('account-repo:some.app', { secret: 'x' }),
        await maker.createKeys('wallet:unheard-of', { unknownKey: 'y' }),
        await maker.createKeys('plugin-store', {})
      ]
      const canSplit = pair.direction === '→' || pair.version === '1.14.0'
      if (canSplit) ids.push(await maker.splitWallet(source, 'wallet:unknown-fork'))
      await maker.changeWalletStates({ [String(ids[0])]: { archived: true, sortIndex: 4 } })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await seesTheSame(t, maker, user)
      const { wallets, activeWalletIds } = await user.picture()
      t.deepEqual(
        ids.map(id => wallets[id]?.type),
        ['account-repo:some.app', 'wallet:unheard-of', 'plugin-store', 'wallet:unknown-fork'].slice(
          0,
          ids.length
        )
      )
      t.like(wallets[String(ids[0])], { archived: true, sortIndex: 4, keys: { secret: 'x' } })
      t.deepEqual(activeWalletIds, [source])
      if (canSplit) t.is(wallets[String(ids[3])]?.keys.unknownforkKey, 'the seed')
    }
  },
  {
    row: 'wallets of every coin and old type',
    title:
      'USER finds the wallets that MAKER has of every coin of the family and every old type, with keys, names and notes',
    async run(t, pair) {
      t.timeout(300_000)
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const opened: { readonly id: string; readonly transaction: ChainTransaction }[] = []
      for (const [type, keyName] of FAMILY_TYPES) {
        const id = await maker.createKeys(type, { [keyName]: `the key of ${type}`, odd: [1, 'ü'] })
        await maker.changeWallet(id, { name: `Mein ${type} 🪙`, fiatCurrencyCode: 'iso:CHF' })
        const transaction = {
          ...{
            txid: `paid to ${type}`,
            date: 1_700_000_000,
            nativeAmount: '9007199254740993',
            networkFee: '0'
          }
        }
        await maker.showTransactions(id, [transaction])
        await maker.writeNote(id, transaction.txid, { name: 'Alice', notes: `für ${type}` })
        opened.push({ id, transaction })
      }
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      for (const { id, transaction } of opened) await user.showTransactions(id, [transaction])
      await seesTheSame(t, maker, user)
      const { wallets } = await user.picture()
      for (const [at, [type, keyName]] of FAMILY_TYPES.entries()) {
        const wallet = wallets[opened[at]?.id ?? '']
        t.is(wallet?.type, type.replace(/-bip\d\d/, ''), type)
        t.like(wallet?.keys, { [keyName]: `the key of ${type}`, odd: [1, 'ü'] }, type)
        t.is(wallet?.open?.name, `Mein ${type} 🪙`)
        const { id = '', transaction } = opened[at] ?? {}
        t.like(await user.noteOf(id, transaction?.txid ?? ''), { name: 'Alice', notes: `für ${type}` }, type)
      }
      for (const { id, transaction } of opened) await user.writeNote(id, transaction.txid, { notes: 'seen' })
      await user.sync()
      await account.logInAgain(maker)
      for (const { id, transaction } of opened) await maker.showTransactions(id, [transaction])
      await seesTheSame(t, user, maker)
    }
  },
  {
    row: 'split and imported wallets',
    title: 'USER finds the wallets that MAKER split and imported, with the same ids and keys in every form',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [source = '', imported = ''] = await maker.createWallets([
        { type: 'wallet:labcoin', name: 'Source', fiatCurrencyCode: 'iso:EUR', seed: 'the seed' },
        { type: 'wallet:labcash', name: 'Imported', importText: 'imported words' }
      ])
      const split = await maker.splitWallet(source, 'wallet:labcash')
      await maker.changeWalletStates({
        [source]: { sortIndex: 0 },
        [imported]: { sortIndex: 1 },
        [split]: { sortIndex: 2 }
      })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await seesTheSame(t, maker, user)
      const { wallets } = await user.picture()
      t.like(wallets[split], {
        type: 'wallet:labcash',
        keys: { labcashKey: 'the seed' },
        open: { name: 'Source', fiatCurrencyCode: 'iso:EUR' }
      })
      t.deepEqual(wallets[split]?.open?.displayKeys, ['the seed', PUBLIC_KEY])
      t.like(wallets[imported]?.keys, { labcashKey: 'imported words', imported: true })

      await user.changeWalletStates({ [split]: { deleted: true } })
      await user.sync()
      await account.logInAgain(maker)
      t.deepEqual((await maker.picture()).wallets[source]?.open?.splittableTypes, ['wallet:labcash'])
      // Back and forth gives the first wallet again, whoever does it.
      await maker.splitWallet(source, 'wallet:labcash')
      await maker.changeWalletStates({ [source]: { deleted: true } })
      await maker.sync()
      await account.logInAgain(user)
      await user.splitWallet(split, 'wallet:labcoin')
      await user.sync()
      await account.logInAgain(maker)
      await seesTheSame(t, user, maker)
      t.deepEqual((await maker.picture()).activeWalletIds, [source, imported, split])
    }
  }
]

/** The wallet types of Bitcoin's family, the old ones too, each with the name of its key. Those of Bitcoin itself have words. */
const FAMILY_TYPES: readonly (readonly [type: string, keyName: string])[] = [
  ...['bitcointestnet', 'bitcoincash', 'bitcoincashtestnet', 'litecoin', 'dogecoin', 'dash'],
  ...['feathercoin', 'qtum', 'ufo', 'zcoin'],
  ...['bitcoincash-bip32', 'bitcoincash-bip44', 'dash-bip44', 'dogecoin-bip44', 'feathercoin-bip44'],
  ...[
    'feathercoin-bip49',
    'litecoin-bip44',
    'litecoin-bip49',
    'qtum-bip44',
    'ufo-bip49',
    'ufo-bip84',
    'zcoin-bip44'
  ]
].map(name => [`wallet:${name}`, `${name.replace(/-bip\d\d/, '')}Key`] as const)

/** Of the seed in the stories: the beginning of its SHA-256. */
const PUBLIC_KEY = '7899fb893f7fd3c9126a'

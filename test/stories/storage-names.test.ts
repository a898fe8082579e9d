import test from 'ava'
import { makeWalletInfo } from '../../kernel/keys/wallet-info.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { waitFor } from '../helpers/device.ts'
import { makeKnownUser, type UserDevice } from '../helpers/known-user.ts'
import { likeList } from '../helpers/like-list.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'
import { toyToken } from '../helpers/toy-home.ts'
import { pathsOf } from '../helpers/user-record.ts'

const io = makeNodeIo()
const { toHex } = io.crypto

/** What only clients of long ago write; this one reads it and never touches it. */
const OLD_ACCOUNT_FILES = {
  'Wallets/first.json': {
    MK: toHex(io.random(32)),
    SyncKey: toHex(io.random(20)),
    BitcoinSeed: toHex(io.random(32)),
    Archived: true
  },
  'Settings.json': {
    customTokens: [
      {
        contractAddress: '0xAA',
        currencyCode: 'LEAD',
        currencyName: 'Token LEAD',
        denomination: '100',
        denominations: [{ name: 'LEAD', multiplier: '100' }],
        multiplier: '100',
        walletType: 'wallet:toycoin'
      }
    ]
  }
}
const OLD_WALLET_FILES = {
  'EnabledTokens.json': ['LEAD', 'GOLD'],
  'Transactions/abc.json': {
    airbitzFeeWanted: 0,
    ntxid: 'n',
    state: { creationDate: 1_400_000_000, internal: false, malleableTxId: 'old' },
    meta: {
      ...{
        amountCurrency: 7,
        bizId: 0,
        category: '',
        name: 'Old shop',
        notes: '',
        amountFeeAirBitzSatoshi: 0
      },
      ...{ balance: 0, fee: 0, attributes: 0, amountSatoshi: 0, amountFeeMinersSatoshi: 0, airbitzFee: 0 }
    }
  }
}

test('what an account keeps has the known names: logins on the device, and those of files in its repos [7.31]', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: toHex(io.random(32)) })
  const user = makeKnownUser(t, { infos: [info], files: OLD_ACCOUNT_FILES })
  user.put(info, OLD_WALLET_FILES)
  const logIn = async (disk: Map<string, string>) => {
    const toy = makeToy({ tokens: { gold: toyToken('GOLD') } })
    const device = await user.logIn({ plugins: [toy.plugin], disk })
    const wallet = await device.account.openWallet(info.id)
    await waitFor(() => toy.requests.length === 1)
    toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('old'), toyTransaction('new')])
    await waitFor(async () => (await wallet.getTransactions()).length === 2)
    return { ...device, wallet }
  }

  const disk = new Map<string, string>()
  const { account, wallet, kernel } = await logIn(disk)
  t.is(wallet.getSnapshot().name, null)
  t.is((await wallet.getTransaction('old')).metadata.name, 'Old shop')
  const leadId = 'aa'
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, [leadId, 'gold'])
  const config = account.currencyConfig('toycoin')
  t.is(config.getSnapshot().customTokens[leadId]?.displayName, 'Token LEAD')
  const oldWalletId = oldWalletOf({ account })
  t.truthy(oldWalletId)

  await account.changeWalletStates({ [info.id]: { sortIndex: 3 }, [oldWalletId]: { hidden: true } })
  await config.changeUserSettings({ server: 'mine' })
  await config.addCustomToken(toyToken('TIN'))
  await wallet.rename('Toys')
  await wallet.setFiatCurrencyCode('iso:EUR')
  await wallet.changeEnabledTokenIds(['tin'])
  await wallet.saveReceiveAddress('my-address', { name: 'Ann' })
  await wallet.saveTxMetadata('new', { notes: 'a kite' })
  await account.sync()

  const name = /^[0-9A-Za-z]{20,50}\.json$/
  const byName = (paths: readonly string[]): string[] =>
    paths.map(path => {
      const [folder = '', file = ''] = path.split('/')
      if (folder === 'transaction') return `transaction/${name.test(file.replace(/^\d+-/, '')) ? '*' : file}`
      return name.test(file) ? `${folder}/*` : path
    })
  const { db } = user.world.server
  t.deepEqual(byName(pathsOf(db, user.repo)).sort(), [
    'CustomTokens.json',
    'Keys/*',
    'Keys/*',
    'PluginSettings.json',
    'Settings.json',
    'Wallets/first.json'
  ])
  t.deepEqual([...new Set(byName(pathsOf(db, info)))].sort(), [
    'Addresses/*',
    'Currency.json',
    'EnabledTokens.json',
    'Tokens.json',
    'Transactions/abc.json',
    'WalletName.json',
    'transaction/*'
  ])
  for (const [path, file] of Object.entries(OLD_ACCOUNT_FILES)) t.deepEqual(user.read(user.repo, path), file)
  for (const [path, file] of Object.entries(OLD_WALLET_FILES)) t.deepEqual(user.read(info, path), file)
  await kernel.close()
  const logins = [...disk.keys()].filter(path => path.startsWith('logins/'))
  t.is(logins.length, 1)
  t.regex(logins[0] ?? '', /^logins\/[1-9A-HJ-NP-Za-km-z]{40,44}\.json$/)

  for (const there of [await logIn(disk), await logIn(new Map())]) {
    t.like(there.wallet.getSnapshot(), { name: 'Toys', fiatCurrencyCode: 'iso:EUR' })
    t.deepEqual(there.wallet.getSnapshot().enabledTokenIds, ['tin'])
    t.like(there.account.currencyConfig('toycoin').getSnapshot().userSettings, { server: 'mine' })
    t.deepEqual(Object.keys(there.account.currencyConfig('toycoin').getSnapshot().customTokens).sort(), [
      leadId,
      'tin'
    ])
    t.is(there.account.listWallets().find(({ walletId }) => walletId === info.id)?.sortIndex, 3)
    t.is(oldWalletOf(there), oldWalletId)
    t.true(there.account.getSnapshot().hiddenWalletIds.includes(oldWalletId))
    likeList(t, await there.wallet.savedAddresses(), [{ address: 'my-address', metadata: { name: 'Ann' } }])
    t.is((await there.wallet.getTransaction('new')).metadata.notes, 'a kite')
    t.is((await there.wallet.getTransaction('old')).metadata.name, 'Old shop')
    t.deepEqual(there.errors, [])
  }
})

/** The wallet that only a file in `Wallets` names. */
const oldWalletOf = ({ account }: Pick<UserDevice, 'account'>): string =>
  account.listWallets().find(({ type, archived }) => type === 'wallet:bitcoin' && archived)?.walletId ?? ''

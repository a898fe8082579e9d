import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { WalletInfo } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { nameOf } from '../../helpers/user-record.ts'
import type { ChainTransaction } from '../chain-transaction.ts'
import { seesTheSame } from '../differences.ts'
import type { Flow, Pair } from '../flow.ts'
import { type KnownAccount, makeKnownAccount } from '../known-account.ts'

const io = makeNodeIo()
const LAB = 'wallet:labcoin'

/** What clients of long ago left, written by hand (protocol §3.4, §3.5, §5.2). */
export const legacyFlows: readonly Flow[] = [
  {
    row: 'files of old clients',
    title: 'USER reads what clients of long ago left as MAKER does, and each what the other makes of it',
    async run(t, pair) {
      const { account, wallet, other, chain } = makeOldAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const user = await account.logIn(pair.openUser)
      for (const device of [maker, user]) await device.showTransactions(wallet.id, chain)
      await seesTheSame(t, maker, user)
      const { wallets, currencies } = await user.picture()
      t.deepEqual(Object.keys(currencies.labcoin?.customTokens ?? {}), ['bb22'])
      const open = wallets[wallet.id]?.open
      t.deepEqual(open?.enabledTokenIds, ['aa11', 'bb22'])
      t.deepEqual(open?.lockedAddresses, ['locked address'])
      t.like(open, {
        fiatCurrencyCode: 'iso:EUR',
        history: { '': { legacy: { date: 1_500_000_000, metadata: { name: 'Legacy', bizId: 3 } } } }
      })

      // The first edit of each file moves it to the form of today.
      await maker.changeWallet(wallet.id, { name: 'Renamed', enabledTokenIds: ['bb22'] })
      await maker.changeCurrency('labcoin', { add: [{ ...NEW_TOKEN }] })
      for (const txid of EDITED) await maker.writeMetadata(wallet.id, { txid }, { notes: `edited ${txid}` })
      await maker.changeWalletStates({ [other]: { archived: false, sortIndex: 1 } })
      await maker.sync()
      await account.logInAgain(user)
      await seesTheSame(t, maker, user)
      await user.writeMetadata(wallet.id, { txid: 'by code' }, { name: null, category: 'Income:by code' })
      await user.writeMetadata(wallet.id, { txid: 'doubled' }, { category: 'Income:doubled' })
      await user.changeWalletStates({ [other]: { hidden: true } })
      await user.sync()
      await account.logInAgain(maker)
      await account.logInAgain(user)
      await seesTheSame(t, user, maker)
      t.like((await maker.picture()).wallets[wallet.id]?.open?.history[''], {
        'by code': { metadata: { notes: 'edited by code', category: 'Income:by code' } },
        doubled: { metadata: { notes: 'edited doubled', category: 'Income:doubled' } }
      })

      // The published core forgets at its next login what it noted on a transaction of the oldest form.
      const [own, peer] = pair.direction === '→' ? [maker, user] : [user, maker]
      await peer.writeMetadata(wallet.id, { txid: 'legacy' }, { notes: 'edited legacy' })
      await peer.sync()
      await account.logInAgain(own)
      const { metadata } = (await own.picture()).wallets[wallet.id]?.open?.history['']?.legacy ?? {}
      t.like(metadata, { name: 'Legacy', notes: 'edited legacy', bizId: 3 })
    }
  }
]

const EDITED = ['by code', 'doubled']

const NEW_TOKEN = {
  currencyCode: 'CCC',
  displayName: 'Token CCC',
  denominations: [{ name: 'CCC', multiplier: '10' }],
  networkLocation: { contractAddress: '0xCC33' }
}

interface OldAccount {
  readonly account: KnownAccount
  readonly wallet: WalletInfo
  /** The id of a wallet that only a file names. */
  readonly other: string
  /** What the chain has of `wallet`. */
  readonly chain: readonly ChainTransaction[]
}

const makeOldAccount = (pair: Pair): OldAccount => {
  const wallet = makeWalletInfo(io, LAB, { labcoinKey: 'old seed' })
  const { keys } = makeWalletInfo(io, 'wallet:bitcoin', { bitcoinKey: 'old words' })
  const misnamed = { ...makeWalletInfo(io, 'wallet:bitcoin-bip44'), type: 'wallet:bitcoin-bip44', keys }
  const inFile = makeWalletInfo(io, 'wallet:bitcoin')
  const account = makeKnownAccount(pair, [wallet, misnamed])
  pair.world.fake.server.db.createRepos([hexOf(inFile.keys.syncKey)])
  const statesPath = ({ id }: WalletInfo): string => `Keys/${nameOf(account.repo, id)}.json`
  account.put(account.repo, {
    [statesPath(wallet)]: { id: wallet.id, sortIndex: 1 },
    [statesPath(misnamed)]: { id: misnamed.id, sortIndex: 2, hidden: true },
    // Placed too: where no file places a key, version 2 counts the wallets in old files twice, and we do not.
    [statesPath(account.repo)]: { id: account.repo.id, sortIndex: 3 },
    'Settings.json': { customTokens: OLD_TOKENS, otherGuiStuff: true },
    'Wallets/AAAA-BBBB.json': {
      BitcoinSeed: io.crypto.toHex(io.random(32)),
      MK: hexOf(inFile.keys.dataKey),
      SyncKey: hexOf(inFile.keys.syncKey),
      SortIndex: 7,
      Archived: true
    }
  })
  account.put(wallet, {
    'WalletName.json': { walletName: 'Été savings' },
    'Currency.json': { num: 978 },
    'EnabledTokens.json': ['BBB', 'AAA', 'XXX'],
    'Addresses/0-a.json': addressFile('locked address', false),
    'Addresses/1-b.json': addressFile('free address', true),
    'Transactions/whatever-name.json': LEGACY_TRANSACTION,
    [pathOf(wallet, 'by code', 1_600_000_200)]: BY_CODE,
    // Two devices saw one payment at once: the older file counts.
    [pathOf(wallet, 'doubled', 1_600_000_300)]: doubled(1_600_000_300, 'The older'),
    [pathOf(wallet, 'doubled', 1_600_000_400)]: doubled(1_600_000_400, 'The newer')
  })
  return { account, wallet, other: inFile.id, chain: CHAIN }
}

const CHAIN: readonly ChainTransaction[] = ['legacy', 'by code', 'doubled'].map(txid => ({
  txid,
  date: 1_600_000_300,
  nativeAmount: '250',
  networkFee: '1'
}))

const oldToken = (code: string, contractAddress: string) => ({
  contractAddress,
  currencyCode: code,
  currencyName: `Token ${code}`,
  denomination: '10',
  denominations: [{ name: code, multiplier: '10' }],
  multiplier: '10',
  walletType: LAB
})

const OLD_TOKENS = [
  oldToken('BBB', '0xBB22'),
  { ...oldToken('HID', '0xEE55'), isVisible: false },
  { ...oldToken('ETH', '0xFF66'), walletType: undefined }
]

const addressFile = (address: string, recycleable: boolean) => ({
  seq: 0,
  address,
  state: { recycleable, creationDate: 1 },
  meta: { amountSatoshi: 0 }
})

const LEGACY_TRANSACTION = {
  airbitzFeeWanted: 0,
  meta: {
    ...{ amountFeeAirBitzSatoshi: 12, balance: 0, fee: 0, amountCurrency: 9.5, bizId: 3 },
    ...{ category: 'Income:Misc', name: 'Legacy', notes: 'L', attributes: 0, amountSatoshi: 0 },
    ...{ amountFeeMinersSatoshi: 0, airbitzFee: 0 }
  },
  ntxid: 'n',
  state: { creationDate: 1_500_000_000, internal: false, malleableTxId: 'legacy' }
}

const BY_CODE = {
  txid: 'by code',
  internal: false,
  creationDate: 1_600_000_200,
  currencies: {
    LAB: {
      metadata: { name: 'By code', notes: 'old style', exchangeAmount: { 'iso:EUR': 6 } },
      nativeAmount: '300',
      providerFeeSent: '2'
    }
  }
}

const doubled = (creationDate: number, name: string) => ({
  txid: 'doubled',
  internal: false,
  creationDate,
  currencies: {},
  tokens: { '': { metadata: { name }, nativeAmount: '250' } }
})

const pathOf = (wallet: WalletInfo, txid: string, date: number): string =>
  `transaction/${date}-${nameOf(wallet, txid)}.json`

const hexOf = (key: unknown): string => io.crypto.toHex(io.crypto.fromBase64(String(key)))

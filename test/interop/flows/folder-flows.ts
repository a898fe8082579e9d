import { shows } from '../differences.ts'
import { type Flow, OFFLINE } from '../flow.ts'
import { makeKnownAccount } from '../known-account.ts'
import { ADDED_TOKENS } from '../lab-coins.ts'
import { exportRepo } from './file-flows.ts'

/** A device of one core that goes on with the other, with all that it keeps. */
export const folderFlows: readonly Flow[] = [
  {
    row: 'whole folder taken over',
    mayReport: OFFLINE,
    title: 'USER goes on in the folder of MAKER with all that is kept there, and uploads what MAKER had not',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [id = '', second = ''] = await maker.createWallets([
        { type: 'wallet:labcoin', name: 'First', fiatCurrencyCode: 'iso:EUR', seed: 'first' },
        { type: 'wallet:labcash', name: 'Second', seed: 'second' }
      ])
      const chain = ['one', 'two'].map((txid, day) => ({
        txid,
        date: 1_700_000_000 + 86_400 * day,
        nativeAmount: '2500',
        networkFee: '0'
      }))
      await maker.showTransactions(id, chain)
      await maker.writeMetadata(id, { txid: 'one' }, { name: 'Synced', notes: 'before' })
      await maker.changeCurrency('labcoin', { userSettings: { server: 'one' } })
      await maker.changeData('shop', { cart: 'one pear' })
      await maker.sync()
      const picture = await pair.world.offline(async () => {
        await maker.writeMetadata(id, { txid: 'one' }, { notes: 'not yet synced' })
        await maker.writeMetadata(id, { txid: 'two' }, { name: 'New' })
        await maker.changeWallet(id, { name: 'Renamed', fiatCurrencyCode: 'iso:CHF' })
        await maker.changeCurrency('labcoin', { add: [ADDED_TOKENS.bb22], userSettings: { server: 'two' } })
        await maker.changeWallet(id, { enabledTokenIds: ['aa11', 'bb22'] })
        await maker.findTokens(id, ['dd44'])
        await maker.changeSwap('labswap', { isEnabled: false })
        await maker.changeData('shop', { cart: 'two pears', more: 'plums' })
        await maker.changeWalletStates({ [id]: { sortIndex: 0 }, [second]: { sortIndex: 1, hidden: true } })
        return maker.picture()
      })
      await maker.stop()
      const folder = await pair.world.copyOf(maker.folder)
      // Holdfast stores repos in another form than deployed clients, and can write theirs.
      const repos = pair.direction === '→' ? [account.repo, ...Object.values(picture.wallets)] : []
      for (const { keys } of repos) await exportRepo(folder, keys)
      const user = await pair.world.offline(async () => {
        const device = await account.logIn(pair.openUser, folder)
        await device.showTransactions(id, chain)
        await shows(t, device, picture)
        return device
      })
      await user.sync()
      const other = await account.logIn(pair.openMaker)
      await other.showTransactions(id, chain)
      await shows(t, other, picture)
    }
  }
]

import { isTombstonePath } from '../../../kernel/sync/tombstones.ts'
import { differences, seesTheSame } from '../differences.ts'
import type { Flow } from '../flow.ts'
import { makeKnownAccount } from '../known-account.ts'
import { ADDED_TOKENS } from '../lab-coins.ts'

const { bb22, cc33 } = ADDED_TOKENS
const SETTINGS = 'PluginSettings.json'

/** What an account keeps for its currencies, its swap plugins and the application. */
export const settingsFlows: readonly Flow[] = [
  {
    row: 'tokens and settings',
    title: 'USER has the tokens and settings of MAKER, and neither loses what only the other knows',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      account.put(account.repo, {
        [SETTINGS]: {
          userSettings: { labcash: { server: 'old' } },
          swapSettings: { labswap: { enabled: true, promo: 'kept' }, gone: { enabled: false } },
          laterField: { kept: [7] }
        }
      })
      const maker = await account.logIn(pair.openMaker)
      const [id = ''] = await maker.createWallets([{ type: 'wallet:labcoin', name: 'Tokens' }])
      await maker.changeCurrency('labcoin', {
        add: [bb22, cc33],
        userSettings: { servers: ['one', 'two'], deep: { er: null } }
      })
      await maker.changeWallet(id, { enabledTokenIds: ['bb22', 'aa11'] })
      await maker.findTokens(id, ['dd44'])
      await maker.changeSwap('labswap', { isEnabled: false, userSettings: { apiKey: 'abc' } })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await seesTheSame(t, maker, user)
      t.deepEqual((await user.picture()).wallets[id]?.open?.enabledTokenIds, ['aa11', 'bb22', 'dd44'])

      await user.changeWallet(id, { enabledTokenIds: ['aa11', 'cc33'] })
      await user.changeCurrency('labcoin', {
        change: { cc33: { ...cc33, displayName: 'Renamed' } },
        remove: ['bb22'],
        userSettings: { servers: ['three'] }
      })
      await user.changeSwap('labswap', { isEnabled: true })
      await user.changeSwap('labtrade', { isEnabled: false })
      await user.sync()
      await account.logInAgain(maker)
      await seesTheSame(t, user, maker)
      const settings = account.read(account.repo, SETTINGS)
      t.like(settings, {
        userSettings: { labcash: { server: 'old' }, labswap: { apiKey: 'abc' } },
        swapSettings: { labswap: { enabled: true, promo: 'kept' }, gone: { enabled: false } }
      })
      t.deepEqual(settings?.userSettings.labcoin, { servers: ['three'] })
      t.deepEqual(settings?.laterField, { kept: [7] })
    }
  },
  {
    row: 'tokens that are always on',
    title: 'USER keeps the tokens that Holdfast has always on when it writes the settings they stand among',
    lacking: ({ direction }) =>
      direction === '←' ? 'the published core forgets its own at the end of a login' : undefined,
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      const [id = ''] = await maker.createWallets([{ type: 'wallet:labcoin' }])
      await maker.changeCurrency('labcoin', { always: ['aa11', 'dd44'] })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await user.changeCurrency('labcoin', { userSettings: { server: 'one' } })
      await user.changeSwap('labswap', { isEnabled: false })
      await user.changeWallet(id, { enabledTokenIds: ['aa11'] })
      await user.sync()
      await account.logInAgain(maker)
      const shown = (await maker.picture()).wallets[id]?.open?.enabledTokenIds
      t.deepEqual(shown, ['aa11', 'dd44'])
      t.deepEqual(account.read(account.repo, SETTINGS), {
        userSettings: { labcoin: { server: 'one' } },
        swapSettings: { labswap: { enabled: false } },
        alwaysEnabledTokens: { labcoin: { aa11: true, dd44: true } }
      })
    }
  },
  {
    row: 'data of the application',
    title: 'USER reads and changes the texts that the application of MAKER keeps',
    async run(t, pair) {
      const account = makeKnownAccount(pair)
      const maker = await account.logIn(pair.openMaker)
      await maker.changeData('shop', { cart: 'three pears', 'Wünsche 🎁': '{"a":1}', empty: '' })
      await maker.changeData('café', { one: '1' })
      await maker.sync()
      const user = await account.logIn(pair.openUser)
      await seesTheSame(t, maker, user)

      await user.changeData('shop', { cart: 'four pears' })
      await user.changeData('new', { item: 'text' })
      await user.sync()
      await account.logInAgain(maker)
      await seesTheSame(t, user, maker)

      const [own, peer] = pair.direction === '→' ? [maker, user] : [user, maker]
      await own.changeData('shop', { empty: null })
      await own.deleteData('café')
      await own.sync()
      await account.logInAgain(peer)
      await seesTheSame(t, own, peer)
      const { data } = await peer.picture()
      t.deepEqual(
        differences(data, { shop: { cart: 'four pears', 'Wünsche 🎁': '{"a":1}' }, new: { item: 'text' } }),
        []
      )

      // What our deletions knew lies beside the files: with that there the other core opens, edits and syncs.
      t.true(account.paths(account.repo).some(isTombstonePath))
      await peer.changeData('shop', { cart: 'five pears' })
      await peer.sync()
      await account.logInAgain(own)
      await seesTheSame(t, peer, own)
      const openPeer = pair.direction === '→' ? pair.openUser : pair.openMaker
      await seesTheSame(t, own, await account.logIn(openPeer))
      t.true(account.paths(account.repo).some(isTombstonePath))
    }
  }
]

import { likeList } from '../../helpers/like-list.ts'
import { type Flow, logInAgain, makeAccount, openKnown } from '../flow.ts'

const FIRST = { appId: 'org.example.first' }
const SECOND = { appId: 'org.example.second' }
const WALLET = { fiatCurrencyCode: 'iso:USD', format: 'bip84' }

/** Logins of apps below the account. */
export const appFlows: readonly Flow[] = [
  {
    row: 'login of an app',
    title: 'USER opens the login of an app that MAKER made',
    async run(t, pair) {
      const made = await makeAccount(pair, FIRST)
      const id = await made.device.createWallet({ ...WALLET, name: 'First app' })
      await made.device.sync()
      const user = await openKnown(pair, made, FIRST)
      likeList(t, await user.wallets(), [{ id, name: 'First app' }])
      t.deepEqual(await user.rawPrivateKey(id), await made.device.rawPrivateKey(id))
      t.is(await user.getLoginKey(), await made.device.getLoginKey())
      await user.logout()
      await user.loginWithPIN({ username: made.name }, made.pin)
      t.is(await user.getLoginKey(), await made.device.getLoginKey())
    }
  },
  {
    row: 'login of an app',
    title: 'USER makes the login of another app in an account that MAKER made for an app',
    async run(t, pair) {
      const made = await makeAccount(pair, FIRST)
      const first = await made.device.createWallet({ ...WALLET, name: 'First app' })
      const user = await openKnown(pair, made, SECOND)
      t.deepEqual(await user.wallets(), [])
      const second = await user.createWallet({ ...WALLET, name: 'Second app' })
      await user.sync()
      const maker = await pair.openMaker(SECOND)
      await maker.loginWithPassword(made.name, made.password)
      likeList(t, await maker.wallets(), [{ id: second, name: 'Second app' }])
      await logInAgain(made)
      t.deepEqual((await made.device.account()).walletIds, [first])
    }
  },
  {
    row: 'wallets of apps',
    title: 'USER sees the wallets of every app in the account, and their keys, that MAKER made',
    async run(t, pair) {
      const made = await makeAccount(pair, FIRST)
      const id = await made.device.createWallet({ ...WALLET, name: 'First app' })
      await made.device.sync()
      const user = await openKnown(pair, made)
      likeList(t, await user.wallets(), [{ id, name: 'First app' }])
      t.deepEqual(await user.rawPrivateKey(id), await made.device.rawPrivateKey(id))
    }
  },
  {
    row: 'folder of an app',
    title: 'USER opens the folder where MAKER has an account and the login of an app',
    async run(t, pair) {
      const made = await makeAccount(pair, FIRST)
      const id = await made.device.createWallet({ ...WALLET, name: 'First app' })
      await made.device.sync()
      const loginKey = await made.device.getLoginKey()
      await made.device.stop()
      const folder = await pair.world.copyOf(made.device.folder)
      const user = await pair.openUser({ ...FIRST, folder })
      await user.loginWithPIN({ username: made.name }, made.pin)
      likeList(t, await user.wallets(), [{ id, name: 'First app' }])
      await user.logout()
      await user.loginWithKey({ username: made.name }, loginKey)
      t.deepEqual((await user.account()).walletIds, [id])
    }
  },
  {
    row: 'PIN of an app',
    title: 'USER takes the PIN and the name that MAKER changed for the account and its app',
    async run(t, pair) {
      const made = await makeAccount(pair, FIRST)
      const user = await openKnown(pair, made, FIRST)
      await user.logout()
      await made.device.changePin({ pin: '97531' })
      const { username, name } = pair.newCredentials()
      await made.device.changeUsername({ username, password: made.password })
      const other = await pair.openUser(FIRST)
      await other.loginWithPassword(username, made.password)
      await other.logout()
      await other.loginWithPIN({ username: name }, '97531')
      t.is(await other.getLoginKey(), await made.device.getLoginKey())
      await user.loginWithPassword(username, made.password)
      await user.logout()
      await user.loginWithPIN({ username: name }, '97531')
      t.is((await user.account()).username, name)
    }
  }
]

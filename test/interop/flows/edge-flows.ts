import { likeList } from '../../helpers/like-list.ts'
import type { Device } from '../device.ts'
import { type Flow, makeAccount, type Pair } from '../flow.ts'
import { makeProtected } from './two-factor-flows.ts'

const APP = 'org.example.shop'
const WALLET = { name: 'Till', fiatCurrencyCode: 'iso:USD', format: 'bip84' }

/** A device that is let in by another, which shows or scans the id of a lobby. */
export const edgeFlows: readonly Flow[] = [
  {
    row: 'edge login',
    title: 'USER gets the whole account of MAKER, who approved',
    async run(t, pair) {
      const { device, name, pin, password } = await makeAccount(pair)
      const user = await pair.openUser()
      const lobbyId = await user.requestEdgeLogin()
      t.like(await device.appOfLobby(lobbyId), { appId: '' })
      await device.approveEdgeLogin(lobbyId)
      await user.finishEdgeLogin()
      t.is((await user.account()).username, name)
      t.is(await user.getLoginKey(), await device.getLoginKey())
      t.true(await user.checkPassword(password))
      await user.logout()
      await user.loginWithPIN({ username: name }, pin)
      t.is((await user.account()).rootLoginId, (await device.account()).rootLoginId)
    }
  },
  {
    row: 'edge login of an app',
    title: 'USER gets the login of an app, and nothing more, from MAKER, who approved',
    async run(t, pair) {
      const { device, name, pin } = await makeAccount(pair)
      pair.world.fake.server.db.saveApp(APP, { appName: 'The Shop' })
      const user = await pair.openUser({ appId: APP })
      const lobbyId = await user.requestEdgeLogin()
      t.deepEqual(await device.appOfLobby(lobbyId), { appId: APP, displayName: 'The Shop' })
      await device.approveEdgeLogin(lobbyId)
      await user.finishEdgeLogin()
      t.like(await user.account(), { username: name, isEdgeLogin: true })
      const loginKey = await user.getLoginKey()
      t.not(loginKey, await device.getLoginKey())
      const walletId = await user.createWallet(WALLET)
      await user.sync()

      await user.logout()
      await user.loginWithKey({ username: name }, loginKey)
      t.deepEqual((await user.account()).walletIds, [walletId])
      await user.logout()
      await user.loginWithPIN({ username: name }, pin)
      t.is(await user.getLoginKey(), loginKey)
    }
  },
  {
    row: 'edge login of an app',
    title: 'USER uses the same login of an app on a second device that MAKER approved',
    async run(t, pair) {
      const { device } = await makeAccount(pair)
      const logIn = () => letIn(pair, device, APP)
      const first = await logIn()
      const walletId = await first.createWallet(WALLET)
      await first.sync()
      const second = await logIn()
      t.is(await second.getLoginKey(), await first.getLoginKey())
      likeList(t, await second.wallets(), [{ id: walletId, name: 'Till' }])
      t.deepEqual(await second.rawPrivateKey(walletId), await first.rawPrivateKey(walletId))
    }
  },
  {
    row: 'edge login, two-factor',
    title: 'USER gets an account with two-factor, and an app in it, from MAKER without a code',
    async run(t, pair) {
      const { made, otpKey } = await makeProtected(t, pair)
      const user = await letIn(pair, made.device)
      t.is((await user.twoFactor()).otpKey, otpKey)
      await user.logout()
      await user.loginWithPIN({ username: made.name }, made.pin)
      const shop = await letIn(pair, made.device, APP)
      await shop.logout()
      await shop.loginWithPIN({ username: made.name }, made.pin)
      t.true((await shop.account()).username === made.name)
    }
  },
  {
    row: 'edge login, no username',
    title: 'USER gets an account without a username from MAKER, and opens it by PIN',
    async run(t, pair) {
      const maker = await pair.openMaker()
      await maker.createAccount({ pin: '2468' })
      const user = await letIn(pair, maker)
      const { username, rootLoginId } = await user.account()
      t.is(username, undefined)
      t.is(rootLoginId, (await maker.account()).rootLoginId)
      await user.logout()
      await user.loginWithPIN({ loginId: rootLoginId }, '2468')
      t.is(await user.getLoginKey(), await maker.getLoginKey())
    }
  },
  {
    row: 'folder of an edge login',
    title: 'USER opens the folder where MAKER has the login of an app that it got by edge login',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const shop = await pair.openMaker({ appId: APP })
      const lobbyId = await shop.requestEdgeLogin()
      await made.device.approveEdgeLogin(lobbyId)
      await shop.finishEdgeLogin()
      const walletId = await shop.createWallet(WALLET)
      await shop.sync()
      const loginKey = await shop.getLoginKey()
      await shop.stop()
      const user = await pair.openUser({ appId: APP, folder: await pair.world.copyOf(shop.folder) })
      await user.loginWithPIN({ username: made.name }, made.pin)
      t.is(await user.getLoginKey(), loginKey)
      t.true((await user.account()).isEdgeLogin)
      likeList(t, await user.wallets(), [{ id: walletId, name: WALLET.name }])
    }
  }
]

/** A new device of the user that a device of the maker let in. */
const letIn = async (pair: Pair, maker: Device, appId = ''): Promise<Device> => {
  const user = await pair.openUser({ appId })
  const lobbyId = await user.requestEdgeLogin()
  await maker.approveEdgeLogin(lobbyId)
  await user.finishEdgeLogin()
  return user
}

import { type Flow, makeAccount } from '../flow.ts'

const APP = 'org.example.shop'

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
      const wallet = { name: 'Till', fiatCurrencyCode: 'iso:USD', format: 'bip84' }
      const walletId = await user.createWallet(wallet)
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
      const logIn = async () => {
        const user = await pair.openUser({ appId: APP })
        const lobbyId = await user.requestEdgeLogin()
        await device.approveEdgeLogin(lobbyId)
        await user.finishEdgeLogin()
        return user
      }
      const first = await logIn()
      const wallet = { name: 'Till', fiatCurrencyCode: 'iso:USD', format: 'bip84' }
      const walletId = await first.createWallet(wallet)
      await first.sync()
      const second = await logIn()
      t.is(await second.getLoginKey(), await first.getLoginKey())
      t.like(await second.wallets(), [{ id: walletId, name: 'Till' }])
      t.deepEqual(await second.rawPrivateKey(walletId), await first.rawPrivateKey(walletId))
    }
  }
]

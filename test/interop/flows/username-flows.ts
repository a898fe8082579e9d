import { type Flow, makeAccount, openKnown } from '../flow.ts'

/** Names that change, and accounts without one. */
export const usernameFlows: readonly Flow[] = [
  {
    row: 'username changed',
    title: 'USER logs in by the new name that MAKER gave, with its password, PIN and recovery',
    async run(t, pair) {
      const { device, name: oldName, password, pin } = await makeAccount(pair)
      const { username, name } = pair.newCredentials()
      const recoveryKey = await device.changeRecovery(['Pet?', 'Town?'], ['Rex', 'Ulm'])
      await device.changeUsername({ username, password })
      t.is((await device.account()).username, name)

      const user = await pair.openUser()
      t.true(await user.usernameAvailable(oldName))
      await t.throwsAsync(user.loginWithPassword(oldName, password), { name: 'UsernameError' })
      await user.loginWithPassword(username, password)
      t.is(await user.getLoginKey(), await device.getLoginKey())
      await user.logout()
      await user.loginWithPIN({ username: name }, pin)
      await user.logout()
      const other = await pair.openUser()
      await other.loginWithRecovery({ recoveryKey, username, answers: ['Rex', 'Ulm'] })
      t.is((await other.account()).username, name)
    }
  },
  {
    row: 'username changed',
    title: 'USER, who knew the account by its old name, goes on after MAKER renamed it',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const { username, name } = pair.newCredentials()
      const user = await openKnown(pair, made)
      const loginKey = await user.getLoginKey()
      await user.logout()
      await made.device.changeUsername({ username, password: made.password })
      const [known] = await user.localUsers()
      await user.loginWithPassword(username, made.password)
      await user.logout()
      const users = await user.localUsers()
      t.deepEqual(
        users.filter(({ loginId }) => loginId === known?.loginId).map(user => user.username),
        [name]
      )
      await user.loginWithPIN({ username: name }, made.pin)
      t.is(await user.getLoginKey(), loginKey)
    }
  },
  {
    row: 'light account',
    title: 'USER opens the folder of an account without a username that MAKER made',
    async run(t, pair) {
      const maker = await pair.openMaker()
      await maker.createAccount({ pin: '2468' })
      const loginKey = await maker.getLoginKey()
      const { rootLoginId } = await maker.account()
      await maker.stop()
      const user = await pair.openUser({ folder: await pair.world.copyOf(maker.folder) })
      const [known] = await user.localUsers()
      t.like(known, { loginId: rootLoginId, isPinLoginEnabled: true, isKeyLoginEnabled: true })
      t.is(known?.username, undefined)
      await t.throwsAsync(user.loginWithPIN({ loginId: rootLoginId }, '9999'), { name: 'PasswordError' })
      await user.loginWithPIN({ loginId: rootLoginId }, '2468')
      t.is(await user.getLoginKey(), loginKey)
      await user.logout()
      await user.loginWithKey({ loginId: rootLoginId }, loginKey)
      t.is((await user.account()).username, undefined)
    }
  },
  {
    row: 'light account named',
    title: 'USER logs in by the name and password that MAKER gave to an account without',
    async run(t, pair) {
      const { username, name, password, pin } = pair.newCredentials()
      const maker = await pair.openMaker()
      await maker.createAccount({ pin })
      await maker.changeUsername({ username, password })
      t.is((await maker.account()).username, name)
      const user = await openKnown(pair, { username, name, password, pin })
      t.is(await user.getLoginKey(), await maker.getLoginKey())
      await user.logout()
      await user.loginWithPIN({ username: name }, pin)
      t.is((await user.account()).username, name)
    }
  }
]

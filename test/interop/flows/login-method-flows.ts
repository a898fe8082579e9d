import { type Flow, makeAccount, OFFLINE, openKnown } from '../flow.ts'

/** Every way in that needs no help from another device. */
export const wayInFlows: readonly Flow[] = [
  {
    row: 'login by password',
    title: 'USER logs in by password to an account that MAKER made',
    async run(t, pair) {
      const { device, name, password } = await makeAccount(pair)
      const user = await pair.openUser()
      t.false(await user.usernameAvailable(name.toUpperCase()))
      t.true(await user.usernameAvailable(`${name} junior`))
      const failure = { name: 'UsernameError' }
      await t.throwsAsync(user.loginWithPassword(`${name} junior`, password), failure)
      await t.throwsAsync(user.loginWithPassword(name, 'not the password'), { name: 'PasswordError' })
      await user.loginWithPassword(name.toUpperCase().replace(' ', '\t '), password)
      t.like(await user.account(), { username: name, isEdgeLogin: false })
      t.is((await user.account()).rootLoginId, (await device.account()).rootLoginId)
      t.is(await user.getLoginKey(), await device.getLoginKey())
    }
  },
  {
    row: 'login by PIN',
    title: 'USER logs in by the PIN that MAKER set',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      await user.logout()
      t.like((await user.localUsers())[0], { username: made.name, isPinLoginEnabled: true })
      await t.throwsAsync(user.loginWithPIN({ username: made.name }, '9999'), { name: 'PasswordError' })
      await user.loginWithPIN({ username: made.name }, made.pin)
      t.is(await user.getLoginKey(), await made.device.getLoginKey())
    }
  },
  {
    row: 'login by key',
    mayReport: OFFLINE,
    title: 'USER logs in by the login key that MAKER gave out, also without a server',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const loginKey = await made.device.getLoginKey()
      const user = await openKnown(pair, made)
      await user.logout()
      const [known] = await user.localUsers()
      t.true(known?.isKeyLoginEnabled)
      await user.loginWithKey({ loginId: known?.loginId ?? '' }, loginKey)
      await user.logout()
      await pair.world.offline(() => user.loginWithKey({ username: made.name }, loginKey))
      t.is((await user.account()).username, made.name)
    }
  },
  {
    row: 'password and PIN checked',
    title: 'USER tells the right password and PIN of an account that MAKER made from wrong ones',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      t.true(await user.checkPassword(made.password))
      t.false(await user.checkPassword('not the password'))
      t.true(await user.checkPin(made.pin))
      t.false(await user.checkPin('9999'))
      t.is(await user.getPin(), made.pin)
    }
  },
  {
    row: 'login past a CAPTCHA',
    title: 'USER logs in with a solved CAPTCHA to an account that MAKER made',
    async run(t, pair) {
      const { name, password } = await makeAccount(pair)
      const user = await pair.openUser()
      const { server } = pair.world.fake
      server.challenge = { challengeId: 'solved', challengeUri: 'http://127.0.0.1:9/captcha' }
      try {
        const failure = await t.throwsAsync(user.loginWithPassword(name, password))
        t.like(failure, { name: 'ChallengeError', ...server.challenge })
        await user.loginWithPassword(name, password, { challengeId: 'solved' })
        t.is((await user.account()).username, name)
      } finally {
        server.challenge = undefined
      }
    }
  }
]

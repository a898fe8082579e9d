import { waitFor } from '../../helpers/device.ts'
import { type Flow, makeAccount, openKnown } from '../flow.ts'

/** Passwords and PINs, changed and deleted. */
export const credentialFlows: readonly Flow[] = [
  {
    row: 'password changed',
    title: 'USER logs in by the new password that MAKER set, and not by the old one',
    async run(t, pair) {
      const { device, name, password } = await makeAccount(pair)
      await device.changePassword('a new battery horse')
      t.true(await device.checkPassword('a new battery horse'))
      const user = await pair.openUser()
      await t.throwsAsync(user.loginWithPassword(name, password), { name: 'PasswordError' })
      await user.loginWithPassword(name, 'a new battery horse')
      t.is(await user.getLoginKey(), await device.getLoginKey())
    }
  },
  {
    row: 'password deleted',
    title: 'USER logs in by PIN, and no more by password, after MAKER deleted the password',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      await user.logout()
      await made.device.deletePassword()
      await user.loginWithPIN({ username: made.name }, made.pin)
      await user.logout()
      await t.throwsAsync(user.loginWithPassword(made.name, made.password), { name: 'PasswordError' })
      const other = await pair.openUser()
      await t.throwsAsync(other.loginWithPassword(made.name, made.password), { name: 'PasswordError' })
    }
  },
  {
    row: 'PIN changed',
    title: 'USER logs in by the new PIN that MAKER set, and not by the old one',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      await user.logout()
      await made.device.changePin({ pin: '4711' })
      const who = { username: made.name }
      await t.throwsAsync(user.loginWithPIN(who, made.pin), { name: 'PasswordError' })
      await user.loginWithPIN(who, '4711')
      t.is(await user.getPin(), '4711')
      t.true(await user.checkPin('4711'))
    }
  },
  {
    row: 'PIN login off and on',
    title: 'USER refuses and takes the PIN as MAKER switches PIN login off and on',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const who = { username: made.name }
      const loginKey = await made.device.getLoginKey()
      const user = await openKnown(pair, made)
      await user.logout()
      await made.device.changePin({ enableLogin: false })
      const showsPinOff = async (): Promise<boolean> =>
        (await made.device.localUsers())[0]?.isPinLoginEnabled === false
      // The published core believes a reply to its own refresh also where it is older than its own change, and shows the
      // PIN as on until the next one, 30 s to 50 s later. A busy machine comes here when a refresh is due.
      if (pair.direction === '→') t.true(await showsPinOff())
      else await waitFor(showsPinOff, 80_000)
      // The server knows the id no more. Or USER's device does not ask it, because a refresh that was on its way at the
      // logout has told the device: on a busy machine, its reply can be younger than the change.
      const refusal = await t.throwsAsync(user.loginWithPIN(who, made.pin))
      t.true(refusal?.name === 'UsernameError' || /PIN login is not enabled/.test(`${refusal?.message}`))
      const fresh = await openKnown(pair, made)
      t.like((await fresh.localUsers())[0], { isPinLoginEnabled: false })
      t.is(await fresh.getPin(), made.pin)

      await made.device.changePin({ enableLogin: true })
      await user.loginWithPassword(made.name, made.password)
      await user.logout()
      const later = await openKnown(pair, made)
      await later.logout()
      t.like((await later.localUsers())[0], { isPinLoginEnabled: true })
      await later.loginWithPIN(who, made.pin)
      t.is(await later.getLoginKey(), loginKey)
    }
  },
  {
    row: 'PIN deleted',
    title: 'USER finds no PIN after MAKER deleted it',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      await user.logout()
      await made.device.deletePin()
      await t.throwsAsync(user.loginWithPIN({ username: made.name }, made.pin), { name: 'UsernameError' })
      const fresh = await openKnown(pair, made)
      t.like((await fresh.localUsers())[0], { isPinLoginEnabled: false })
      t.is(await fresh.getPin(), undefined)
    }
  },
  {
    row: 'PIN set later',
    title: 'USER logs in by a PIN that MAKER set on an account without one',
    async run(t, pair) {
      const { username, name, password } = pair.newCredentials()
      const maker = await pair.openMaker()
      await maker.createAccount({ username, password })
      await maker.changePin({ pin: '8642' })
      const user = await openKnown(pair, { username, name, password, pin: '8642' })
      await user.logout()
      await user.loginWithPIN({ username: name }, '8642')
      t.is(await user.getPin(), '8642')
    }
  },
  {
    row: 'changed by the other',
    title: 'USER changes every credential of an account that MAKER made, and MAKER goes on with them',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const { device } = made
      const loginKey = await device.getLoginKey()
      const oldKey = await device.changeRecovery(['Pet?'], ['Rex'])
      await device.logout()
      const user = await openKnown(pair, made)
      const { username, name } = pair.newCredentials()
      await user.changePin({ pin: '80808' })
      const recoveryKey = await user.changeRecovery(['Town?'], ['Ulm'])
      t.is(recoveryKey, oldKey)
      await user.changePassword('another battery staple')
      await user.changeUsername({ username, password: 'another battery staple' })

      await device.loginWithPassword(username, 'another battery staple')
      t.is(await device.getLoginKey(), loginKey)
      t.true(await device.checkPin('80808'))
      await device.logout()
      await device.loginWithPIN({ username: name }, '80808')
      t.like((await device.localUsers())[0], { username: name, recoveryKey })
      const other = await pair.openMaker()
      t.deepEqual(await other.recoveryQuestions(recoveryKey, name), ['Town?'])
      await other.loginWithRecovery({ recoveryKey, username: name, answers: ['Ulm'] })
      t.is(await other.getLoginKey(), loginKey)
    }
  },
  {
    row: 'changed in turn',
    title:
      'USER and MAKER, both in and not refreshed, change credentials in turn, and the last of each counts',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const { device, name } = made
      const user = await openKnown(pair, made)
      await device.changePin({ pin: '20001' })
      await user.changeRecovery(['Pet?'], ['Rex'])
      const recoveryKey = await device.changeRecovery(['Town?'], ['Ulm'])
      await user.changePassword('the last battery')
      await device.changePin({ pin: '20002' })
      await user.changePin({ pin: '20003' })
      const loginKey = await device.getLoginKey()
      for (const open of [pair.openMaker, pair.openUser]) {
        const fresh = await open()
        await t.throwsAsync(fresh.loginWithPassword(name, made.password), { name: 'PasswordError' })
        await fresh.loginWithPassword(name, 'the last battery')
        await fresh.logout()
        await t.throwsAsync(fresh.loginWithPIN({ username: name }, '20002'), { name: 'PasswordError' })
        await fresh.loginWithPIN({ username: name }, '20003')
        t.is(await fresh.getLoginKey(), loginKey)
        await fresh.logout()
        await fresh.loginWithRecovery({ recoveryKey, username: name, answers: ['Ulm'] })
      }
    }
  },
  {
    row: 'login under duress',
    title:
      'USER changes the PIN of an account that MAKER opens by another PIN under duress, and leaves that one',
    lacking: ({ version, direction }) =>
      version === '1.14.0' || direction === '→' ? 'only version 2 knows logins under duress' : undefined,
    async run(t, pair) {
      const { username, name, password, pin } = pair.newCredentials()
      const device = await pair.world.openPeer()
      await device.createAccount({ username, password, pin })
      await device.changeDuressPin('1379')
      await device.logout()
      const user = await openKnown(pair, { username, name, password, pin })
      await user.changePin({ pin: '8080' })
      const renamed = pair.newCredentials()
      await user.changeUsername({ username: renamed.username, password })

      await device.loginWithPassword(renamed.username, password)
      await device.logout()
      await device.loginWithPIN({ username: renamed.name }, '1379')
      t.true(await device.isUnderDuress())
      await device.logout()
      await device.loginWithPIN({ username: renamed.name }, '8080')
      t.false(await device.isUnderDuress())
    }
  },
  {
    row: 'password rules',
    title: 'USER judges new passwords as MAKER does',
    async run(t, pair) {
      const [maker, user] = [await pair.openMaker(), await pair.openUser()]
      for (const password of [
        '',
        'Short1',
        'nonumberatall',
        'LOUD1LOUD1',
        'Quite1fine',
        'long enough without'
      ]) {
        t.deepEqual(await user.passwordRules(password), await maker.passwordRules(password), password)
      }
    }
  },
  {
    row: 'account deleted',
    title: 'USER finds nothing of an account that MAKER deleted',
    async run(t, pair) {
      const { device, username, name, password, pin } = await makeAccount(pair)
      const user = await openKnown(pair, { username, name, password, pin })
      await user.logout()
      await device.deleteRemoteAccount()
      await t.throwsAsync(user.loginWithPIN({ username: name }, pin), { name: 'UsernameError' })
      const other = await pair.openUser()
      t.true(await other.usernameAvailable(name))
      await t.throwsAsync(other.loginWithPassword(name, password), { name: 'UsernameError' })
    }
  }
]

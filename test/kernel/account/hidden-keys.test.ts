import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice } from '../../helpers/device.ts'

const ALICE = { username: 'alice', password: 'correct horse', pin: '4711' }

test('with hideKeys on, keys, recovery key, root login id and 2FA key are hidden, and no credential changes [5.28] [6.8]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world, { hideKeys: true })
  const account = await kernel.context.createAccount(ALICE)
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const { credentials, twoFactor } = account
  const calls: Record<string, () => unknown> = {
    getLoginKey: () => account.getLoginKey(),
    getRawPrivateKey: () => account.walletKeys.getRawPrivateKey(wallet.id),
    getDisplayPrivateKey: () => account.walletKeys.getDisplayPrivateKey(wallet.id),
    rootLoginId: () => account.rootLoginId,
    getPIN: () => credentials.getPIN(),
    getRecoveryKey: () => credentials.getRecoveryKey(),
    getOtpKey: () => twoFactor.getOtpKey(),
    changePassword: () => credentials.changePassword('battery staple'),
    deletePassword: () => credentials.deletePassword(),
    changePIN: () => credentials.changePIN({ pin: '2580' }),
    deletePIN: () => credentials.deletePIN(),
    changeUsername: () => credentials.changeUsername({ username: 'bob', password: ALICE.password }),
    changeRecovery: () => credentials.changeRecovery(['Where?'], ['here']),
    deleteRecovery: () => credentials.deleteRecovery(),
    deleteRemoteAccount: () => credentials.deleteRemoteAccount(),
    enableOtp: () => twoFactor.enableOtp(),
    disableOtp: () => twoFactor.disableOtp(),
    cancelOtpReset: () => twoFactor.cancelOtpReset(),
    repairOtp: () => twoFactor.repairOtp('AAAAAAAAAAAAAAAA')
  }
  const before = JSON.stringify([...world.server.db.entries()])
  for (const [name, call] of Object.entries(calls)) {
    await t.throwsAsync(
      async () => call(),
      { code: 'HIDDEN_KEYS', message: 'Not available when `hideKeys` is enabled' },
      name
    )
  }
  t.is(JSON.stringify([...world.server.db.entries()]), before)
  const rootId = String(kernel.context.localUsers[0]?.loginId)
  t.false(JSON.stringify([account.id, account.getSnapshot()]).includes(rootId))
  t.true(await credentials.checkPassword(ALICE.password))
  t.true(await credentials.checkPIN(ALICE.pin))
  await kernel.close()
})

test('hideKeys, documented as true by default, is off unless an application sets it [9.28]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  // Deployed applications that say nothing show keys: protocol §8, row 2.
  for (const [hideKeys, isHidden] of [
    [undefined, false],
    [false, false],
    [true, true]
  ] as const) {
    const kernel = await openDevice(world, hideKeys === undefined ? {} : { hideKeys })
    const account = await kernel.context.createAccount({})
    const { id } = await account.createCurrencyWallet('wallet:bitcoin')
    const views = [
      () => account.getLoginKey(),
      async () => account.rootLoginId,
      async () => JSON.stringify(await account.walletKeys.getRawPrivateKey(id))
    ]
    for (const view of views) {
      if (isHidden) await t.throwsAsync(view, { code: 'HIDDEN_KEYS' })
      else t.true((await view()).length > 30)
    }
    await kernel.close()
  }
})

import { dumpFakeUser } from '../../../fake-server/users/dump-user.ts'
import type { FakeUser } from '../../../fake-server/users/fake-user.ts'
import { loadFakeUser } from '../../../fake-server/users/load-user.ts'
import { parseBase58 } from '../../../kernel/crypto/encoding.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { likeList } from '../../helpers/like-list.ts'
import type { Device } from '../device.ts'
import type { Flow, Pair } from '../flow.ts'

const WALLET = { name: 'Kept', fiatCurrencyCode: 'iso:EUR', format: 'bip84' }
const QUESTIONS = ['Pet?']

/** Whole users that move between the test worlds of the two. */
export const fakeUserFlows: readonly Flow[] = [
  {
    row: 'test user moved',
    title: 'USER lives on, in its own test world, as a user that MAKER made in ours',
    lacking: ({ direction }) => (direction === '→' ? undefined : 'told the other way round'),
    async run(t, pair) {
      const { username, name, password, pin } = pair.newCredentials()
      const maker = await pair.openMaker()
      await maker.createAccount({ username, password, pin })
      const { recoveryKey, walletId } = await fill(maker)
      const user = await pair.world.openPeerAlone([await dump(pair, maker)])
      likeList(t, await user.localUsers(), [{ username: name, recoveryKey }])
      await user.loginWithPIN({ username: name }, pin)
      t.is(await user.getLoginKey(), await maker.getLoginKey())
      likeList(t, await user.wallets(), [{ id: walletId, name: WALLET.name }])
      await user.logout()
      await user.loginWithPassword(name, password)
      t.is((await user.twoFactor()).otpKey, (await maker.twoFactor()).otpKey)
      t.deepEqual(await user.recoveryQuestions(recoveryKey, name), QUESTIONS)
    }
  },
  {
    row: 'test user moved',
    title: 'USER lives on, in our test world, as a user that MAKER made in its own',
    lacking: ({ direction }) => (direction === '←' ? undefined : 'told the other way round'),
    async run(t, pair) {
      const { username, name, password, pin } = pair.newCredentials()
      const maker = await pair.world.openPeerAlone([])
      await maker.createAccount({ username, password, pin })
      const { recoveryKey, walletId } = await fill(maker)
      const { db } = pair.world.fake.server
      const { crypto } = makeNodeIo()
      loadFakeUser({ db, crypto, clock: pair.world.fake.clock }, await maker.dumpUser())
      const user = await pair.openUser()
      const { otpKey = '' } = await maker.twoFactor()
      await user.loginWithPassword(name, password, { otpKey })
      t.is(await user.getLoginKey(), await maker.getLoginKey())
      likeList(t, await user.wallets(), [{ id: walletId, name: WALLET.name }])
      t.deepEqual(await user.recoveryQuestions(recoveryKey, name), QUESTIONS)
      await user.logout()
      await user.loginWithPIN({ username: name }, pin)
    }
  }
]

/** Gives an account a wallet, recovery and two-factor. */
const fill = async (device: Device): Promise<{ recoveryKey: string; walletId: string }> => {
  const walletId = await device.createWallet(WALLET)
  const recoveryKey = await device.changeRecovery(QUESTIONS, ['Rex'])
  await device.enableOtp()
  await device.sync()
  return { recoveryKey, walletId }
}

/** Takes the user of a device out of our world. */
const dump = async ({ world }: Pair, device: Device): Promise<FakeUser> => {
  const io = makeNodeIo()
  const { username, rootLoginId } = await device.account()
  const loginId = io.crypto.toBase64(parseBase58(rootLoginId))
  const loginKey = parseBase58(await device.getLoginKey())
  const source = { io, db: world.fake.server.db, clock: world.fake.clock }
  return dumpFakeUser(source, { loginId, loginKey, username })
}

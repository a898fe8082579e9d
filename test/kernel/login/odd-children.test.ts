import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { loadFakeUser } from '../../../fake-server/users/load-user.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { sealBox, sealJson, sealText } from '../../../kernel/crypto/box.ts'
import { base58Of } from '../../../kernel/crypto/encoding.ts'
import type { Account, Kernel } from '../../../kernel/index.ts'
import { stashPathOf } from '../../../kernel/keys/ids.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { WalletInfo } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openDevice } from '../../helpers/device.ts'
import type { Untyped } from '../../helpers/login-device.ts'
import { makeUserRecord } from '../../helpers/user-record.ts'

// Accounts of old apps have logins below the root whose secrets or ids have other lengths than ours; what both
// published versions open, opens here, and what nobody can open locks nobody out.

const io = makeNodeIo()
const { toBase64, fromBase64 } = io.crypto
const APP = 'old.app'

interface OddChild {
  readonly loginKey?: Uint8Array
  readonly loginId?: Uint8Array
  readonly loginAuth?: Uint8Array
  readonly pin2Key?: Uint8Array
  readonly recovery2Key?: Uint8Array
  /** The last word on the record of the child. `rootKey`: of the root login. */
  readonly change?: (child: Untyped, rootKey: Uint8Array) => object
}

interface OddUser {
  readonly wallets: { readonly root: WalletInfo; readonly child: WalletInfo }
  readonly files: Map<string, string>
  open(options?: object): Promise<{ kernel: Kernel; account: Account; errors: unknown[] }>
  /** Changes the child on the server. */
  changeChild(change: (child: Untyped) => object): void
}

const makeOddUser = (t: ExecutionContext, odd: OddChild): OddUser => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const wallets = {
    root: makeWalletInfo(io, 'wallet:bitcoin', { bitcoinKey: 'root' }),
    child: makeWalletInfo(io, 'wallet:bitcoin', { bitcoinKey: 'child' })
  }
  const repo = makeWalletInfo(io, accountRepoTypeOf(''))
  const { user, loginId, loginKey } = makeUserRecord([repo, wallets.root])
  const { loginKey: childKey = io.random(32), loginAuth = io.random(32), pin2Key, recovery2Key } = odd
  // A key that AES does not take still has boxes.
  const sealKey = [16, 24, 32].includes(childKey.length) ? childKey : io.random(32)
  const child: Untyped = {
    appId: APP,
    created: '2014-05-06T07:08:09.000Z',
    loginId: toBase64(odd.loginId ?? io.random(32)),
    loginAuth: toBase64(loginAuth),
    loginAuthBox: sealBox(io, sealKey, loginAuth),
    parentBox: sealBox(io, loginKey, childKey),
    keyBoxes: [sealJson(io, sealKey, { ...wallets.child })],
    pin2KeyBox: pin2Key && sealBox(io, sealKey, pin2Key),
    pin2TextBox: pin2Key && sealText(io, sealKey, '4711'),
    recovery2KeyBox: recovery2Key && sealBox(io, sealKey, recovery2Key),
    vouchers: [],
    children: []
  }
  const server: Untyped = { ...user.server, children: [{ ...child, ...odd.change?.(child, loginKey) }] }
  loadFakeUser({ db: world.server.db, crypto: io.crypto, clock: world.clock }, { ...user, server })
  const { appId, loginAuthBox } = server
  const stash = { appId, loginId, loginAuthBox, pendingVouchers: [] }
  const files = new Map([[stashPathOf(fromBase64(loginId)), JSON.stringify(stash)]])
  return {
    wallets,
    files,
    async open(options = {}) {
      const errors: unknown[] = []
      const storage = memoryStorage(files)
      const onError = (_: string, error: unknown): void => void errors.push(error)
      const kernel = await openDevice(world, { storage, onError, ...options })
      t.teardown(() => kernel.close())
      const name = { loginId: base58Of(fromBase64(loginId)) }
      const account = await kernel.context.loginWithKey(name, base58Of(loginKey))
      await account.sync()
      return { kernel, account, errors }
    },
    changeChild(change) {
      for (const entry of world.server.db.entries()) {
        if (entry.kind !== 'login' || entry.record.appId !== APP) continue
        world.server.db.saveLogin({ ...entry.record, ...change(entry.record) } as never)
        return
      }
    }
  }
}

const idsOf = (account: Account): string[] => [...account.getSnapshot().walletIds].sort()

const GOOD: Readonly<Record<string, OddChild>> = {
  'a loginAuth of 31 bytes': { loginAuth: io.random(31) },
  'a PIN key of 31 bytes': { pin2Key: io.random(31) },
  'a PIN key of 33 bytes': { pin2Key: io.random(33) },
  'a recovery key of 31 bytes': { recovery2Key: io.random(31) },
  'an id of 31 bytes': { loginId: io.random(31) },
  'a key of 16 bytes': { loginKey: io.random(16) },
  'a key of 24 bytes': { loginKey: io.random(24) }
}

for (const [name, odd] of Object.entries(GOOD)) {
  test(`an app's login with ${name} opens with its wallets, also after a restart`, async t => {
    const user = makeOddUser(t, odd)
    const both = [user.wallets.root.id, user.wallets.child.id].sort()
    const first = await user.open()
    t.deepEqual(idsOf(first.account), both)
    await first.kernel.close()
    const second = await user.open()
    t.deepEqual(idsOf(second.account), both)
    t.deepEqual([...first.errors, ...second.errors], [])
    if (odd.pin2Key === undefined) return
    const stash: Untyped = JSON.parse([...user.files].find(([path]) => path.startsWith('logins/'))?.[1] ?? '')
    const { pin2Key } = stash.children[0]
    t.is(pin2Key, odd.pin2Key.length % 3 === 0 ? base58Of(odd.pin2Key) : toBase64(odd.pin2Key))
  })
}

const BAD: Readonly<Record<string, OddChild>> = {
  'a key of 31 bytes': { loginKey: io.random(31) },
  'no parent box': { change: () => ({ parentBox: undefined }) },
  'the parent box of another login': {
    change: () => ({ parentBox: sealBox(io, io.random(32), io.random(32)) })
  },
  'no loginAuth': { change: () => ({ loginAuth: undefined, loginAuthBox: undefined }) },
  'a box of wallet keys as its loginAuth': { change: ({ keyBoxes: [box] }) => ({ loginAuthBox: box }) },
  'its own key as its loginAuth': { change: ({ parentBox }) => ({ loginAuthBox: parentBox }) },
  'a loginAuth of 20 bytes': { loginAuth: io.random(20) }
}

for (const [name, odd] of Object.entries(BAD)) {
  test(`an app's login with ${name} is reported, and its root login still opens`, async t => {
    const user = makeOddUser(t, odd)
    for (const _ of ['new', 'known']) {
      const { kernel, account, errors } = await user.open()
      t.deepEqual(idsOf(account), [user.wallets.root.id])
      await account.credentials.changePIN({ pin: '2580' })
      await account.sync()
      t.true(errors.length > 0, 'nothing was reported')
      t.true(errors.every(error => error instanceof Error))
      await kernel.close()
    }
    await t.throwsAsync(user.open({ appId: APP }), { code: 'APP_ID_NOT_FOUND' })
  })
}

test('a child login must carry a parent box: one that does not is a key integrity violation [5.31]', async t => {
  const { errors } = await makeOddUser(t, BAD['no parent box'] ?? {}).open()
  const [error] = errors
  t.true(isWalletError(error, 'KEY_INTEGRITY'))
  t.is((error as Error).message, 'Key integrity violation: No parentBox on child login.')
})

test('an app login that a server corrupts stays as this device knows it, and an honest server repairs it', async t => {
  const user = makeOddUser(t, { pin2Key: io.random(31) })
  const both = [user.wallets.root.id, user.wallets.child.id].sort()
  const { account } = await user.open()
  let good: Untyped
  user.changeChild(child => {
    good = child
    return { loginAuthBox: child.parentBox, pin2KeyBox: undefined }
  })
  await account.sync()
  t.deepEqual(idsOf(account), both)
  const again = await user.open()
  t.deepEqual(idsOf(again.account), both)
  user.changeChild(() => ({ ...good, pin2KeyBox: undefined, pin2TextBox: undefined }))
  await account.sync()
  const stash: Untyped = JSON.parse([...user.files].find(([path]) => path.startsWith('logins/'))?.[1] ?? '')
  t.is(stash.children[0].pin2Key, undefined)
  t.deepEqual(idsOf(account), both)
})

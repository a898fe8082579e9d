import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '../../helpers/device.ts'
import type { Device, DeviceVoucher } from '../device.ts'
import { type Flow, logInAgain, type Pair } from '../flow.ts'
import { makeProtected, refused } from './two-factor-flows.ts'

/** Devices without a code, let in or turned away by a device that is in. */
export const voucherFlows: readonly Flow[] = [
  {
    row: 'voucher approved',
    title: 'USER gets in without a code after MAKER approved its voucher',
    async run(t, pair) {
      const { made, otpKey } = await makeProtected(t, pair)
      const user = await pair.openUser()
      const { voucherId = '' } = await refused(t, user, made)
      await logInAgain(made)
      const { vouchers } = await made.device.twoFactor()
      t.deepEqual(vouchers.map(idOf), [voucherId])
      t.is(vouchers[0]?.deviceDescription, pair.direction === '→' ? `Peer ${pair.version}` : 'Holdfast')
      await made.device.approveVoucher(voucherId)
      await user.loginWithPassword(made.name, made.password)
      t.is(await user.getLoginKey(), await made.device.getLoginKey())
      t.deepEqual(await user.twoFactor(), { otpKey, vouchers: [] })
    }
  },
  {
    row: 'voucher rejected',
    title: 'USER stays out after MAKER rejected its voucher',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair)
      const user = await pair.openUser()
      const { voucherId = '' } = await refused(t, user, made)
      await logInAgain(made)
      await made.device.rejectVoucher(voucherId)
      t.deepEqual((await made.device.messages())[0]?.vouchers, [])
      await refused(t, user, made)
    }
  },
  {
    row: 'login messages',
    title: 'MAKER hears of the voucher of USER for one of two users of the device',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair)
      await made.device.logout()
      const { username, password, name, pin } = pair.newCredentials()
      await made.device.createAccount({ username, password, pin })
      const user = await pair.openUser()
      const { voucherId } = await refused(t, user, made)
      const messages = await made.device.messages()
      const byName = new Map(messages.map(message => [message.username, message]))
      t.deepEqual([...byName.keys()].sort(), [made.name, name].sort())
      t.deepEqual(byName.get(made.name)?.vouchers.map(idOf), [voucherId])
      t.deepEqual(byName.get(name)?.vouchers, [])
    }
  },
  {
    row: 'voucher approved by time',
    isSlow: true,
    title: 'USER gets in without a code when nobody, MAKER included, rejected its voucher for a week',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair)
      const user = await pair.openUser()
      const { voucherId = '' } = await refused(t, user, made)
      const later = await begunAnew(pair, user, voucherId)
      pair.world.fake.clock.skip(8 * 24 * 3_600_000)
      await later.loginWithPassword(made.name, made.password)
      t.is(await later.getLoginKey(), await made.device.getLoginKey())
    }
  },
  {
    row: 'voucher in the folder',
    title: 'USER gets in with the approved voucher that MAKER kept in its folder',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair)
      const waiting = await pair.openMaker()
      const { voucherId = '' } = await refused(t, waiting, made)
      await kept(waiting, voucherId)
      await waiting.stop()
      const user = await pair.openUser({ folder: await pair.world.copyOf(waiting.folder) })
      await made.device.approveVoucher(voucherId)
      await user.loginWithPassword(made.name, made.password)
      t.is(await user.getLoginKey(), await made.device.getLoginKey())
    }
  }
]

/** Begins a device anew that has a voucher: the published core may know it later than its folder does. */
export const begunAnew = async (pair: Pair, user: Device, voucherId: string): Promise<Device> => {
  await kept(user, voucherId)
  await user.stop()
  return pair.openUser({ folder: await pair.world.copyOf(user.folder) })
}

const idOf = ({ voucherId }: DeviceVoucher): string => voucherId

/** Waits until a voucher is in the folder of the device: the published core saves it in the background. */
const kept = ({ folder }: Device, voucherId: string): Promise<void> =>
  waitFor(async () => {
    const logins = join(folder, 'logins')
    const names = await readdir(logins).catch(() => [])
    const texts = await Promise.all(names.map(name => readFile(join(logins, name), 'utf8')))
    return texts.some(text => text.includes(voucherId))
  })

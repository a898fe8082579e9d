import type { Account, JsonObject, PendingVoucher } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { strangersText } from '../output/safe-text.ts'
import { localTime } from '../output/times.ts'
import type { TableView } from '../output/view.ts'
import { confirm } from '../session/confirm.ts'
import { makeChange } from '../session/make-change.ts'
import { refreshedAccount } from '../session/refreshed-account.ts'
import type { Session } from '../session.ts'

/** Lists the devices that wait to be let in. */
export const voucherList: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const { pendingVouchers } = account.twoFactor.status
  return {
    data: { vouchers: pendingVouchers.map(voucherJson) },
    view: voucherTable(pendingVouchers),
    warnings
  }
}

/** Lets devices in. */
export const voucherApprove: CommandRun = (session, ...ids) =>
  decide(session, ids, {
    question: 'Let them in? They need no code from then on.',
    doing: 'Letting in',
    done: 'let in',
    call: (twoFactor, voucherId) => twoFactor.approveVoucher(voucherId)
  })

/** Keeps devices out. */
export const voucherReject: CommandRun = (session, ...ids) =>
  decide(session, ids, {
    question: 'Keep them out?',
    doing: 'Keeping out',
    done: 'kept out',
    call: (twoFactor, voucherId) => twoFactor.rejectVoucher(voucherId)
  })

/** A device that waits, for scripts. */
export const voucherJson = ({
  voucherId,
  created,
  activates,
  ip,
  ipDescription,
  deviceDescription
}: PendingVoucher): JsonObject => ({
  voucherId,
  created,
  activates,
  ip,
  ipDescription,
  deviceDescription: deviceDescription ?? null
})

/** Devices that wait, for people. */
export const voucherTable = (vouchers: readonly PendingVoucher[]): TableView => ({
  kind: 'table',
  columns: [
    { title: 'ID', canShrink: false },
    { title: 'DEVICE', canShrink: true },
    { title: 'PLACE', canShrink: true },
    { title: 'ASKED' },
    { title: 'LET IN BY ITSELF' }
  ],
  rows: vouchers.map(({ voucherId, created, activates, ip, ipDescription, deviceDescription = '' }) => [
    strangersText(voucherId),
    strangersText(deviceDescription),
    placeOf({ ip, ipDescription }),
    localTime(new Date(created)),
    localTime(new Date(activates))
  ]),
  empty: 'No device waits to be let in'
})

const placeOf = ({ ip, ipDescription }: Pick<PendingVoucher, 'ip' | 'ipDescription'>): string =>
  ipDescription === '' ? strangersText(ip) : `${strangersText(ip)} (${strangersText(ipDescription)})`

interface Decision {
  readonly question: string
  readonly doing: string
  readonly done: string
  call(twoFactor: Account['twoFactor'], voucherId: string): Promise<void>
}

const decide = async (
  session: Session,
  ids: readonly (string | undefined)[],
  { question, doing, done, call }: Decision
) => {
  const wanted = ids.filter(id => id !== undefined)
  const isAll = session.isOn('all')
  if (isAll === wanted.length > 0) {
    throw new CliError(
      'USAGE',
      isAll ? 'Say --all or ids, not both' : 'Say which devices: their ids, or --all',
      {
        next: [{ command: 'holdfast voucher list', why: 'see the ids' }]
      }
    )
  }
  // What waits now, not what waited when this device last looked.
  const { account } = await refreshedAccount(session)
  const pending = account.twoFactor.status.pendingVouchers
  const chosen = isAll ? pending : wanted.map(id => findVoucher(pending, id))
  const data = { vouchers: chosen.map(voucherJson) }
  if (chosen.length === 0) return { data, view: voucherTable(chosen) }
  for (const voucher of chosen) {
    session.talk.say(`${strangersText(voucher.deviceDescription ?? 'a device')} at ${placeOf(voucher)}`)
  }
  if (!session.globals.dryRun) await confirm(session, { question, summary: data })
  const count = chosen.length === 1 ? 'One device is' : `${chosen.length} devices are`
  return makeChange(session, {
    doing,
    done: `${count} ${done}`,
    data,
    async call() {
      for (const { voucherId } of chosen) await call(account.twoFactor, voucherId)
    }
  })
}

const findVoucher = (pending: readonly PendingVoucher[], id: string): PendingVoucher => {
  const found = pending.find(({ voucherId }) => voucherId === id)
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `No device with the id "${id}" waits`, {
    next: [{ command: 'holdfast voucher list', why: 'see the ids' }]
  })
}

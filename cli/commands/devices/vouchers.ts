import { shellWord } from '../../../app/format/safe-text.ts'
import type { Account, JsonObject, LoginMessage, PendingVoucher } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { failureOf } from '../../errors/failure.ts'
import { localTime } from '../../output/texts.ts'
import type { CommandResult, TableView } from '../../output/view.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { abortable, type EventStream, openEventStream, sleep } from '../../session/event-stream.ts'
import { makeChange, refreshedAccount } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { untrustedText } from '../../terminal/safe-text.ts'

/** Lists the pending vouchers. */
export const voucherList: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const { pendingVouchers } = account.twoFactor.status
  return {
    data: { vouchers: pendingVouchers.map(voucherJson) },
    view: voucherTable(pendingVouchers),
    warnings
  }
}

/** Approves vouchers. */
export const voucherApprove: CommandRun = (session, ...ids) =>
  decide(session, ids, {
    question: 'Approve them? From then on they need no code.',
    doing: 'Letting in',
    done: 'let in',
    call: (twoFactor, voucherId) => twoFactor.approveVoucher(voucherId)
  })

/** Rejects vouchers. */
export const voucherReject: CommandRun = (session, ...ids) =>
  decide(session, ids, {
    question: 'Reject them?',
    doing: 'Keeping out',
    done: 'kept out',
    call: (twoFactor, voucherId) => twoFactor.rejectVoucher(voucherId)
  })

/** A pending voucher as JSON. */
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

/** Pending vouchers as a table. */
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
    untrustedText(voucherId),
    untrustedText(deviceDescription),
    placeOf({ ip, ipDescription }),
    localTime(new Date(created)),
    localTime(new Date(activates))
  ]),
  empty: 'No device waits for approval'
})

const placeOf = ({ ip, ipDescription }: Pick<PendingVoucher, 'ip' | 'ipDescription'>): string =>
  ipDescription === '' ? untrustedText(ip) : `${untrustedText(ip)} (${untrustedText(ipDescription)})`

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
    throw new CliError('USAGE', isAll ? 'Use either --all or ids' : 'Name the devices: their ids, or --all', {
      next: [{ command: 'holdfast voucher list', why: 'see the ids' }]
    })
  }
  // The vouchers as the server has them now.
  const { account } = await refreshedAccount(session)
  const pending = account.twoFactor.status.pendingVouchers
  const chosen = isAll ? pending : wanted.map(id => findVoucher(pending, id))
  const data = { vouchers: chosen.map(voucherJson) }
  if (chosen.length === 0) return { data, view: voucherTable(chosen) }
  for (const voucher of chosen) {
    session.statusLine.info(
      `${untrustedText(voucher.deviceDescription ?? 'a device')} at ${placeOf(voucher)}`
    )
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

const WATCH_SECONDS = 30

/**
 * Shows the pending vouchers, resets and damaged recovery of all users of this device, once or until it is stopped.
 * Needs no secret.
 */
export const messages: CommandRun = async session => {
  if (!session.isOn('watch')) return resultOf(await fetchMessages(session))
  const stream = openEventStream(session)
  let last = ''
  while (!session.signal.aborted) {
    last = await reportMessages(session, stream, last)
    await sleep(session.signal, WATCH_SECONDS)
  }
  await stream.end('stopped')
  return undefined
}

/** Fetches the messages once and reports them if they have changed; a temporary failure is reported as well. */
const reportMessages = async (session: Session, stream: EventStream, last: string): Promise<string> => {
  try {
    const result = resultOf(await fetchMessages(session))
    const facts = JSON.stringify(result.data)
    if (facts === last) return last
    if (session.globals.json) await stream.emit('messages', result.data)
    else await session.print(result)
    return facts
  } catch (error) {
    if (session.signal.aborted) return last
    const { code, message, retryable } = failureOf(error)
    if (!retryable) throw error
    await stream.emit('trouble', { code, message })
    if (!session.globals.json) session.statusLine.warn(message)
    return last
  }
}

const fetchMessages = (session: Session): Promise<readonly LoginMessage[]> =>
  abortable(session.signal, async () => {
    const context = await session.context()
    return session.withProgress('Checking for messages', () => context.fetchLoginMessages())
  })

const resultOf = (found: readonly LoginMessage[]): CommandResult => ({
  data: {
    messages: found.map(({ loginId, username, otpResetPending, pendingVouchers, recovery2Corrupt }) => ({
      loginId,
      username: username ?? null,
      otpResetPending,
      pendingVouchers: pendingVouchers.map(voucherJson),
      recoveryCorrupt: recovery2Corrupt
    }))
  },
  view: {
    kind: 'table',
    columns: [
      { title: 'USER', canShrink: true },
      { title: 'WHAT WAITS', canShrink: true },
      { title: 'WHAT TO DO' }
    ],
    rows: found.flatMap(message => rowsOf(message).map(row => [message.username ?? '(light)', ...row])),
    empty: 'There are no messages for the users of this device'
  }
})

const rowsOf = ({
  otpResetPending,
  pendingVouchers,
  recovery2Corrupt
}: LoginMessage): readonly string[][] => [
  ...(otpResetPending ? [['a reset of two-factor was requested', 'holdfast 2fa reset cancel']] : []),
  ...pendingVouchers.map(({ deviceDescription = 'a device', ip, voucherId }) => [
    `${untrustedText(deviceDescription)} at ${untrustedText(ip)} wants in`,
    `holdfast voucher approve ${shellWord(untrustedText(voucherId))}`
  ]),
  ...(recovery2Corrupt ? [['the recovery answers are damaged', 'holdfast account recovery setup']] : [])
]

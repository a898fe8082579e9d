import { shellWord } from '../../devtools/core/shell-word.ts'
import type { LoginMessage } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { failureOf } from '../errors/failure.ts'
import { type EventStream, openEventStream } from '../output/event-stream.ts'
import { strangersText } from '../output/safe-text.ts'
import { orStopped, waitFor } from '../session/wait-for.ts'
import type { Session } from '../session.ts'
import { voucherJson } from './voucher.ts'

const WATCH_SECONDS = 30

/** Shows what waits for the users of this device, once or until it is stopped. Needs no secret. */
export const messages: CommandRun = async session => {
  if (!session.isOn('watch')) return resultOf(await fetchMessages(session))
  const stream = openEventStream(session)
  let last = ''
  while (!session.signal.aborted) {
    last = await look(session, stream, last)
    await waitFor(session.signal, WATCH_SECONDS)
  }
  await stream.end('stopped')
  return undefined
}

/** Looks once, and tells what differs from the last time; a server that is away for a while ends nothing. */
const look = async (session: Session, stream: EventStream, last: string): Promise<string> => {
  try {
    const result = resultOf(await fetchMessages(session))
    const news = JSON.stringify(result.data)
    if (news === last) return last
    if (session.globals.json) await stream.emit('messages', result.data)
    else await session.print(result)
    return news
  } catch (error) {
    if (session.signal.aborted) return last
    const { code, message, retryable } = failureOf(error)
    if (!retryable) throw error
    await stream.emit('trouble', { code, message })
    if (!session.globals.json) session.talk.warn(message)
    return last
  }
}

const fetchMessages = (session: Session): Promise<readonly LoginMessage[]> =>
  orStopped(session.signal, async () => {
    const context = await session.context()
    return session.doing('Looking for messages', () => context.fetchLoginMessages())
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
    empty: 'Nothing waits for the users of this device'
  }
})

const rowsOf = ({
  otpResetPending,
  pendingVouchers,
  recovery2Corrupt
}: LoginMessage): readonly string[][] => [
  ...(otpResetPending ? [['two-factor goes off, because somebody asked', 'holdfast 2fa reset cancel']] : []),
  ...pendingVouchers.map(({ deviceDescription = 'a device', ip, voucherId }) => [
    `${strangersText(deviceDescription)} at ${strangersText(ip)} wants in`,
    `holdfast voucher approve ${shellWord(strangersText(voucherId))}`
  ]),
  ...(recovery2Corrupt ? [['the recovery answers are damaged', 'holdfast account recovery setup']] : [])
]

import { durationText } from '../../../app/format/times.ts'
import type { TrafficLine } from '../../../fake-server/base/traffic.ts'
import type { JsonObject } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount } from '../../grammar/options.ts'
import { localTime } from '../../output/texts.ts'
import type { WorldControl } from '../../profile/world-control.ts'
import type { CommandRun } from '../../session/command.ts'
import { openEventStream, sleep } from '../../session/event-stream.ts'
import type { Session } from '../../session/session.ts'

/** Shows the requests that the servers of the fake world received, once or as they arrive. */
export const fakeRequests: CommandRun = async session => {
  const isWanted = filterOf(session)
  const { control, isShared } = await session.world()
  if (session.isOn('follow')) {
    if (!isShared) throw notShared()
    await follow(session, control, isWanted)
    return undefined
  }
  const lines = (await control.requests(0)).filter(isWanted)
  return {
    data: { requests: lines.map(lineJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'TIME' },
        { title: 'METHOD' },
        { title: 'PATH', canShrink: true },
        { title: 'STATUS', align: 'right' },
        { title: 'TOOK', align: 'right' }
      ],
      rows: lines.map(cellsOf),
      empty: 'There are no such requests yet'
    },
    warnings: isShared ? [] : ['The world of this profile ends with each command; see: holdfast fake start']
  }
}

const PAUSE_SECONDS = 0.25

const follow = async (
  session: Session,
  control: WorldControl,
  isWanted: (line: TrafficLine) => boolean
): Promise<void> => {
  const stream = openEventStream(session, { hasOneShape: true })
  let last = 0
  while (!session.signal.aborted) {
    const later = await control.requests(last)
    last = later.at(-1)?.sequence ?? last
    const lines = later.filter(isWanted)
    if (session.globals.json) for (const line of lines) await stream.emit('request', lineJson(line))
    else if (lines.length > 0) {
      const view = { kind: 'text', lines: lines.map(line => cellsOf(line).join('  ')) } as const
      await session.print({ data: {}, view })
    }
    await sleep(session.signal, PAUSE_SECONDS)
  }
  await stream.end('stopped')
}

const filterOf = (session: Session): ((line: TrafficLine) => boolean) => {
  const path = session.text('path')
  const wanted = session.text('status')
  const status = wanted === undefined ? undefined : parseCount(wanted, 'status', [0, 599])
  return line =>
    (path === undefined || line.path.includes(path)) && (status === undefined || line.status === status)
}

const lineJson = ({ sequence, method, path, status, duration, at }: TrafficLine): JsonObject => ({
  sequence,
  at: new Date(at).toISOString(),
  method,
  path,
  status: status === 0 ? null : status,
  durationMs: Math.round(duration)
})

const cellsOf = ({ at, method, path, status, duration }: TrafficLine): string[] => [
  localTime(new Date(at)),
  method,
  path,
  status === 0 ? 'lost' : String(status),
  durationText(duration)
]

const notShared = (): CliError =>
  new CliError('WORLD_NOT_SHARED', 'No other program can use the fake world while this command has it open', {
    next: [{ command: 'holdfast fake start', why: 'serve the world, then follow it from here' }]
  })

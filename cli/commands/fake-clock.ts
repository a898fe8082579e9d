import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseSpan, parseWhen } from '../grammar/values.ts'
import { localTime } from '../output/times.ts'

/** Shows the time of the fake world. */
export const fakeClockShow: CommandRun = async session => {
  const { control } = await session.world()
  return resultOf(await control.now())
}

/** Skips time in the fake world, as for a two-factor reset. */
export const fakeClockAdvance: CommandRun = async (session, span = '') => {
  const seconds = parseSpan(span)
  const { control } = await session.world()
  return resultOf(await control.skip(seconds * 1000))
}

/** Moves the fake world to a later date. */
export const fakeClockSet: CommandRun = async (session, text = '') => {
  const date = parseWhen(text, 'date')
  const { control } = await session.world()
  const ahead = date.getTime() - (await control.now())
  if (ahead >= 0) return resultOf(await control.skip(ahead))
  throw new CliError('USAGE', 'Time only goes forward: the world is later than that already', {
    next: [{ command: 'holdfast fake clock show', why: 'see how late it is there' }]
  })
}

const resultOf = (now: number): CommandResult => {
  const date = new Date(now)
  const aheadMs = Math.max(0, now - Date.now())
  return {
    data: { now: date.toISOString(), aheadSeconds: Math.round(aheadMs / 1000) },
    view: {
      kind: 'record',
      fields: [
        ['time', localTime(date)],
        ['ahead of this machine', aheadText(aheadMs)]
      ]
    }
  }
}

const DAY = 86_400_000

const aheadText = (milliseconds: number): string => {
  const minutes = Math.round(milliseconds / 60_000)
  if (minutes < 1) return 'no'
  const days = Math.floor(milliseconds / DAY)
  const rest = Math.round((milliseconds - days * DAY) / 60_000)
  return [
    ...(days > 0 ? [`${days} d`] : []),
    ...(rest >= 60 ? [`${Math.floor(rest / 60)} h`] : []),
    ...(rest % 60 > 0 ? [`${rest % 60} min`] : [])
  ].join(' ')
}

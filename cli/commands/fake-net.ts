import type { NetworkConditions } from '../../fake-server/network-conditions.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { durationText } from '../output/times.ts'
import type { Session } from '../session.ts'

/** Cuts the network of the fake world. */
export const fakeNetOffline: CommandRun = session => change(session, { isOnline: false })

/** Restores the network of the fake world; how slow and how lossy it is stays. */
export const fakeNetOnline: CommandRun = session => change(session, { isOnline: true })

/** Makes answers of the fake servers late. */
export const fakeNetLatency: CommandRun = (session, range = '') =>
  change(session, { latency: parseRange(range) })

/** Has a share of the requests lost on their way to the fake servers. */
export const fakeNetFail: CommandRun = (session, rate = '') => change(session, { failRate: parseRate(rate) })

/** Reads `200ms`, `50-200ms`, `1s-2s`, or `0` for none, as milliseconds. @throws CliError USAGE */
export const parseRange = (text: string): NetworkConditions['latency'] => {
  const [, first = '', firstUnit, last = first, unit] = RANGE.exec(text) ?? []
  const lastUnit = unit ?? firstUnit
  const to = Number(last) * (UNITS[lastUnit ?? ''] ?? Number.NaN)
  const from = Number(first) * (UNITS[firstUnit ?? lastUnit ?? ''] ?? Number.NaN)
  if (text === '0') return { from: 0, to: 0 }
  if (first !== '' && from <= to && to <= MAX_MS) return { from, to }
  throw new CliError('USAGE', 'A latency is a time up to 5 minutes, or a range, such as 200ms or 50-200ms')
}

/** Reads `0.2`, `20%` or `0` for none. @throws CliError USAGE */
export const parseRate = (text: string): number => {
  const [, number = '', percent] = RATE.exec(text) ?? []
  const rate = number === '' ? Number.NaN : Number(number) / (percent === undefined ? 1 : 100)
  if (rate >= 0 && rate <= 1) return rate
  throw new CliError('USAGE', 'A rate is a share of the requests from 0 to 1, such as 0.2 or 20%')
}

const RANGE = /^(\d{1,6})(ms|s|m)?(?:-(\d{1,6})(ms|s|m)?)?$/
const RATE = /^(\d{1,3}(?:\.\d{1,6})?)(%)?$/
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }
const MAX_MS = 300_000

const change = async (session: Session, conditions: Partial<NetworkConditions>): Promise<CommandResult> => {
  const { control } = await session.world()
  const { isOnline, latency, failRate } = await control.changeNetwork(conditions)
  return {
    data: { online: isOnline, latencyMs: { ...latency }, failRate },
    view: {
      kind: 'record',
      fields: [
        ['network', isOnline ? { text: 'online', tone: 'good' } : { text: 'offline', tone: 'warn' }],
        ['latency', latencyText(latency)],
        ['lost requests', `${Number((failRate * 100).toFixed(4))} %`]
      ]
    }
  }
}

const latencyText = ({ from, to }: NetworkConditions['latency']): string => {
  if (to === 0) return 'none'
  return from === to ? durationText(to) : `${durationText(from)} to ${durationText(to)}`
}

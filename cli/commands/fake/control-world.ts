import { amountJson, isMax } from '../../../app/format/amounts.ts'
import { durationText } from '../../../app/format/times.ts'
import type { NetworkConditions } from '../../../fake-server/base/network-conditions.ts'
import { type ChainId, chainIds } from '../../../fake-server/chain/open-chain.ts'
import { amountText, type CurrencyInfo, parseAmount } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount, parseDate, parseSpan } from '../../grammar/options.ts'
import { localTime } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import type { WorldControl } from '../../profile/world-control.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'

/** Pays from the faucet of a fake chain to a wallet or an address. */
export const fakeChainFund: CommandRun = async (session, target = '', amount = '') => {
  if (isMax(amount)) throw new CliError('USAGE', 'The faucet needs an amount, such as "0.5 BTC"')
  const { address, chain } = await payeeOf(session, target)
  const info = await currencyOf(session, chain)
  const native = parseAmount(amount, info)
  const { control } = await session.world()
  const txid = await control.fund(chain, address, native)
  const height = session.isOn('confirm') ? await control.mine(chain, 1) : undefined
  return {
    data: { txid, address, currency: chain, amount: amountJson(native, info), height: height ?? null },
    view: {
      kind: 'record',
      fields: [
        ['txid', txid],
        ['address', address],
        ['amount', amountText(native, info)],
        [
          'state',
          height === undefined ? { text: 'unconfirmed', tone: 'warn' } : { text: 'confirmed', tone: 'good' }
        ]
      ]
    }
  }
}

// Ids of wallets are of another length or alphabet, and no address is shorter.
const ADDRESS = /^[A-Za-z0-9]{26,90}$/

const payeeOf = async (
  session: Session,
  target: string
): Promise<{ readonly address: string; readonly chain: ChainId }> => {
  const named = namedChain(session)
  const isAddress = ADDRESS.test(target)
  const wallet = isAddress ? undefined : await session.synced(await findWallet(session, target))
  const address = wallet === undefined ? target : (await wallet.getReceiveAddress()).publicAddress
  const { control } = await session.world()
  return {
    address,
    chain: named ?? (await chainOfAddress(control, address, wallet?.currencyInfo.pluginId))
  }
}

const currencyOf = async (session: Session, chain: ChainId): Promise<CurrencyInfo> => {
  const info = (await session.currencies()).find(({ pluginId }) => pluginId === chain)
  if (info === undefined) throw new CliError('USAGE', `There is no plugin of ${chain}`)
  return info
}

/** Mines blocks on one fake chain, or on all; the first block confirms the mempool. */
export const fakeChainMine: CommandRun = async (session, text = '1') => {
  const count = parseCount(text, 'number of blocks', [1, 10_000])
  const all = session.text('currency')?.toLowerCase() === 'all'
  const ids = all ? chainIds : [namedChain(session) ?? 'bitcoin']
  const { control } = await session.world()
  const heights: [ChainId, number][] = []
  for (const id of ids) heights.push([id, await control.mine(id, count)])
  return {
    data: { mined: count, height: heights[0]?.[1] ?? 0, heights: Object.fromEntries(heights) },
    view: {
      kind: 'record',
      fields: [
        ['mined', String(count)],
        ...heights.map(([id, height]): [string, string] => [all ? `${id} height` : 'height', String(height)])
      ]
    }
  }
}

/**
 * Returns the chain of `--currency`; undefined without the flag.
 *
 * @throws CliError USAGE for a chain that does not exist
 */
const namedChain = (session: Session): ChainId | undefined => {
  const text = session.text('currency')
  if (text === undefined) return undefined
  const id = chainIds.find(known => known === text.toLowerCase())
  if (id !== undefined) return id
  throw new CliError('USAGE', `The fake world has no chain of "${text}"`, {
    hint: `Use one of ${chainIds.join(', ')}.`
  })
}

/**
 * Returns the chain of an address. Some old kinds of address are valid on several: then `preferred` wins, else Bitcoin.
 * An address of no chain is left to Bitcoin to refuse.
 */
const chainOfAddress = async (
  control: WorldControl,
  address: string,
  preferred?: string
): Promise<ChainId> => {
  const takers = await control.chainsOf(address)
  return takers.find(id => id === preferred) ?? takers[0] ?? 'bitcoin'
}

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
  const date = parseDate(text, 'date')
  const { control } = await session.world()
  const ahead = date.getTime() - (await control.now())
  if (ahead >= 0) return resultOf(await control.skip(ahead))
  throw new CliError('USAGE', 'Time only goes forward: the clock of the world is already past that date', {
    next: [{ command: 'holdfast fake clock show', why: 'see its time' }]
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

/** Cuts the network of the fake world. */
export const fakeNetOffline: CommandRun = session => change(session, { isOnline: false })

/** Restores the network of the fake world; how slow and how lossy it is stays. */
export const fakeNetOnline: CommandRun = session => change(session, { isOnline: true })

/** Delays the replies of the fake servers. */
export const fakeNetLatency: CommandRun = (session, range = '') =>
  change(session, { latency: parseRange(range) })

/** Drops a share of the requests to the fake servers. */
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

import type { JsonObject, RateProviderSnapshot } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { durationText } from '../output/times.ts'
import type { Cell, CellLike } from '../output/view.ts'
import { askRates } from '../rates/find-rate.ts'
import { isoTime } from '../rates/route-facts.ts'

/** Asks the providers of rates, and lists how each of them did. */
export const ratesProviders: CommandRun = async session => {
  await askRates(session, [])
  const { providers } = (await session.context()).rates.getSnapshot()
  return {
    data: { providers: providers.map(providerJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'ID' },
        { title: 'NAME', canShrink: true },
        { title: 'STATE' },
        { title: 'PAIRS', align: 'right' },
        { title: 'TOOK', align: 'right' },
        { title: 'BIAS', align: 'right' },
        { title: 'WHY', canShrink: true }
      ],
      rows: providers.map(cellsOf),
      empty: 'No provider of rates is installed.'
    }
  }
}

/** Asks for fresh rates, and says how many there are. */
export const ratesRefresh: CommandRun = async session => {
  await askRates(session, [])
  const { providers, pairCount, updatedAt } = (await session.context()).rates.getSnapshot()
  const answered = providers.filter(({ state }) => state === 'answered')
  const asked = providers.filter(({ state }) => state !== 'retired' && state !== 'idle')
  return {
    data: {
      pairs: pairCount,
      updatedAt: updatedAt === undefined ? null : isoTime(updatedAt),
      providers: providers.map(providerJson)
    },
    warnings: asked
      .filter(provider => !answered.includes(provider))
      .map(({ displayName, state, message }) => `${displayName}: ${message ?? state}`),
    view: {
      kind: 'record',
      fields: [
        ['pairs', String(pairCount)],
        ['answered', `${answered.length} of ${asked.length} providers`]
      ]
    }
  }
}

const providerJson = (provider: RateProviderSnapshot): JsonObject => ({
  id: provider.pluginId,
  name: provider.displayName,
  bias: provider.bias,
  state: provider.state,
  pairs: provider.pairCount,
  answeredAt: provider.answeredAt === undefined ? null : isoTime(provider.answeredAt),
  durationMs: provider.durationMs === undefined ? null : Math.round(provider.durationMs),
  error: provider.errorCode ?? null,
  message: provider.message ?? null
})

const cellsOf = (provider: RateProviderSnapshot): readonly CellLike[] => [
  provider.pluginId,
  provider.displayName,
  stateCell(provider),
  provider.pairCount === 0 ? '' : String(provider.pairCount),
  provider.durationMs === undefined ? '' : durationText(provider.durationMs),
  String(provider.bias),
  provider.message ?? ''
]

const stateCell = ({ state }: RateProviderSnapshot): Cell => {
  if (state === 'answered') return { text: state, tone: 'good' }
  if (state === 'failed') return { text: state, tone: 'bad' }
  return { text: state, tone: state === 'silent' ? 'warn' : 'dim' }
}

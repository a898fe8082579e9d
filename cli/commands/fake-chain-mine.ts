import { type ChainId, chainIds } from '../../fake-server/world-chain.ts'
import type { CommandRun } from '../command.ts'
import { parseCount } from '../grammar/values.ts'
import { namedChain } from '../session/fake-chains.ts'

/** Mines blocks on a fake chain, or on all; the first takes in what waits. */
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

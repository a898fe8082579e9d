import type { CommandRun } from '../command.ts'
import { parseCount } from '../grammar/values.ts'

/** Mines blocks on the fake chain; the first takes in what waits. */
export const fakeChainMine: CommandRun = async (session, text = '1') => {
  const count = parseCount(text, 'number of blocks', [1, 10_000])
  const { control } = await session.world()
  const height = await control.mine(count)
  return {
    data: { mined: count, height },
    view: {
      kind: 'record',
      fields: [
        ['mined', String(count)],
        ['height', String(height)]
      ]
    }
  }
}

import type { RateService } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'

/**
 * The source of rates with that id, in any case: a provider, or one that rates of this device are still from.
 *
 * @throws CliError NOT_FOUND with the ids there are
 */
export const findSource = (rates: Pick<RateService, 'getSnapshot' | 'pairs'>, text: string): string => {
  const ids = new Set(rates.getSnapshot().providers.map(({ pluginId }) => pluginId))
  for (const { source } of rates.pairs()) ids.add(source)
  if (ids.has(text)) return text
  const found = [...ids].find(id => id.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `There is no source of rates "${text}"`, {
    hint: `Use one of ${[...ids].join(', ')}.`
  })
}

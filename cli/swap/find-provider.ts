import type { SwapPlugin } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Session } from '../session.ts'

/** The provider of swaps with that id. @throws CliError NOT_FOUND with the ids there are */
export const findProvider = async (session: Session, text: string): Promise<SwapPlugin> => {
  const plugins = await session.swapPlugins()
  const found = plugins.find(({ id }) => id.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `There is no provider of swaps "${text}"`, {
    hint: `Use one of ${plugins.map(({ id }) => id).join(', ')}.`
  })
}

import { type ChainId, chainIds } from '../../fake-server/world-chain.ts'
import { CliError } from '../errors/cli-error.ts'
import type { WorldControl } from '../profile/world-control.ts'
import type { Session } from '../session.ts'

/** The chain that `--currency` names; undefined without the flag. @throws CliError USAGE for one that is not there */
export const namedChain = (session: Session): ChainId | undefined => {
  const text = session.text('currency')
  if (text === undefined) return undefined
  const id = chainIds.find(known => known === text.toLowerCase())
  if (id !== undefined) return id
  throw new CliError('USAGE', `The fake world has no chain of "${text}"`, {
    hint: `Use one of ${chainIds.join(', ')}.`
  })
}

/**
 * The chain that an address is of. Some old kinds of address are the same on several: then the chain that is
 * preferred, else Bitcoin's. An address of none is left to Bitcoin's to refuse.
 */
export const chainOfAddress = async (
  control: WorldControl,
  address: string,
  preferred?: string
): Promise<ChainId> => {
  const takers = await control.chainsOf(address)
  return takers.find(id => id === preferred) ?? takers[0] ?? 'bitcoin'
}

import type { FreshAddress } from '../../../../kernel/plugin-api.ts'
import type { WalletState } from './wallet-state.ts'

/** The address to receive on, in every form the wallet has: at an index, or the first unused. @throws KEY_INTEGRITY */
export const freshAddressOf = async (
  state: WalletState,
  index: number | undefined
): Promise<FreshAddress> => {
  const { table } = state
  const main = table.mainBranch(0)
  const publicAddress = await state.addressAt(main, index)
  if (main.branch.purpose !== 84) return { publicAddress }
  const nested = table.branchOf(49, 0)
  if (nested === undefined) return { publicAddress, segwitAddress: publicAddress }
  return { publicAddress, segwitAddress: publicAddress, legacyAddress: await state.addressAt(nested, index) }
}

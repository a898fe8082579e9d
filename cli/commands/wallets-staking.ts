import { amountText, nativeAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { amountJson } from '../output/amounts.ts'
import { localTime } from '../output/times.ts'
import { findWallet } from '../session/find-wallet.ts'
import { coinOf } from '../session/wallet-assets.ts'

/** Lists what a wallet has staked, and until when it is locked. */
export const walletsStaking: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const coin = coinOf(wallet)
  const staked = wallet
    .getSnapshot()
    .stakingStatus.stakedAmounts.map(({ nativeAmount: native, unlockDate }) => ({
      amount: nativeAmount(native),
      unlockDate: unlockDate ?? null
    }))
  return {
    data: {
      walletId: wallet.id,
      staked: staked.map(({ amount, unlockDate }) => ({ ...amountJson(amount, coin), unlockDate }))
    },
    view: {
      kind: 'table',
      columns: [{ title: 'STAKED', align: 'right' }, { title: 'LOCKED UNTIL' }],
      rows: staked.map(({ amount, unlockDate }) => [
        amountText(amount, coin),
        unlockDate === null ? 'not said' : localTime(new Date(unlockDate))
      ]),
      empty: 'Nothing of this wallet is staked.'
    }
  }
}

import type { ReactElement } from 'react'
import type { WalletSnapshot } from '../../../kernel/index.ts'
import type { View } from '../../core/model/slices.ts'
import type { BalanceRow, EngineRow } from '../../core/rows/engine-rows.ts'
import { StateMark, type Tone } from './marks.tsx'
import { countText, percentText, visibleText } from './texts.ts'

/** Returns the name of a wallet, or its whole id: half an id may be another wallet's, too. */
export const walletName = ({ name, walletId }: WalletSnapshot): string =>
  name === null || name === '' ? walletId : name

/** Returns the name of a wallet or an account; other ids stay as they are. */
export const nameOfId = (view: View, id: string): string => {
  const wallet = view.wallets.get(id)
  if (wallet !== undefined) return visibleText(walletName(wallet))
  return visibleText(view.accounts.get(id)?.username ?? id)
}

/** Shows the sync stage of an engine. */
export const EngineStateView = ({ stage }: Pick<EngineRow, 'stage'>): ReactElement => (
  <StateMark tone={stageTones[stage]}>{stage}</StateMark>
)

const stageTones: Readonly<Record<EngineRow['stage'], Tone>> = {
  paused: 'idle',
  starting: 'busy',
  looking: 'busy',
  waiting: 'warn',
  synced: 'good',
  failed: 'bad',
  closed: 'idle'
}

/** Shows the share of the chain that an engine has seen. */
export const SyncBar = ({ ratio }: { readonly ratio: number }): ReactElement => (
  <span>
    <span className="bar" aria-hidden="true">
      <span style={{ inlineSize: `${Math.round(ratio * 100)}%` }} />
    </span>
    {percentText(ratio)}
  </span>
)

/** The coin's balance, and how many tokens there are besides. */
export const Balance = ({ balances }: { readonly balances: readonly BalanceRow[] }): ReactElement => {
  const coin = balances.find(({ tokenId }) => tokenId === null)
  const tokens = balances.filter(({ tokenId }) => tokenId !== null).length
  return (
    <>
      {visibleText(coin?.text ?? '–')}
      {tokens === 0 ? null : <span className="soft"> +{tokens}</span>}
    </>
  )
}

/** A balance to the last unit, in one line. */
export const balanceHint = ({ name, text, nativeAmount }: BalanceRow): string =>
  `${name}: ${text}, ${countText(nativeAmount)} native`

/** Shows the last error of an engine. */
export const LastError = ({ row }: { readonly row: EngineRow }): ReactElement =>
  row.failure === undefined ? <span className="soft">none</span> : <span className="bad">{row.failure}</span>

import type { ReactElement } from 'react'
import { matchesText } from '../../core/model/derive.ts'
import type { View } from '../../core/model/slices.ts'
import { type EngineRow, engineRows } from '../../core/rows/engine-rows.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FilterField } from '../parts/fields.tsx'
import { EmptyState, NoMatch } from '../parts/marks.tsx'
import { countText } from '../parts/texts.ts'
import { Balance, balanceHint, EngineStateView, LastError, SyncBar } from '../parts/wallet.tsx'
import { useCanRunActions, usePanel, useView } from '../state/panel-state.ts'
import { WalletDetails } from './wallet-details.tsx'

/** One row for each wallet's engine: how far it is, what it holds, what went wrong. */
export const EnginesPanel = (): ReactElement => {
  const view = useView()
  const { go, location } = usePanel()
  const all = engineRows(view)
  const rows = all.filter(row =>
    matchesText(location.filter.trim(), [
      row.title,
      row.walletId,
      row.pluginId,
      row.username,
      row.state,
      row.stage,
      row.failure
    ])
  )
  const chosen = all.find(({ walletId }) => walletId === location.id)
  if (all.length === 0) return <NoEngines view={view} />
  return (
    <>
      <div className="tools">
        <FilterField what="wallets" />
        <span className="soft">{all.length === 1 ? '1 wallet' : `${all.length} wallets`}</span>
      </div>
      <div className={chosen === undefined ? 'body' : 'body has-side'}>
        <div className="main">
          {rows.length === 0 ? (
            <NoMatch filter={location.filter} onClear={() => go({ ...location, filter: '' })} />
          ) : (
            <DataTable
              label="Engines"
              columns={view.accounts.size > 1 ? [...columns, accountColumn] : columns}
              rows={rows}
              keyOf={({ walletId }) => walletId}
              chosen={location.id}
              onOpen={({ walletId }) => go({ id: walletId })}
            />
          )}
        </div>
        {chosen === undefined ? null : <WalletDetails key={chosen.walletId} row={chosen} />}
      </div>
    </>
  )
}

/** A wallet that is synced has seen a height, and be it 0 of a chain that has just begun. */
const heightText = ({ blockHeight, stage }: EngineRow): string =>
  blockHeight === 0 && stage !== 'synced' ? '–' : countText(String(blockHeight))

const columns: readonly Column<EngineRow>[] = [
  {
    title: 'Wallet',
    isProse: true,
    width: '22%',
    cell: ({ title }) => title,
    hint: ({ walletId }) => walletId
  },
  { title: 'Currency', width: '96px', rank: 'minor', cell: ({ pluginId }) => pluginId },
  { title: 'Engine', width: '104px', cell: ({ stage }) => <EngineStateView stage={stage} /> },
  { title: 'Synced', width: '126px', rank: 'slight', cell: ({ syncRatio }) => <SyncBar ratio={syncRatio} /> },
  {
    // Wherever a row says that it is synced it says up to which block.
    title: 'Height',
    width: '90px',
    isNumber: true,
    cell: heightText
  },
  {
    title: 'Balance',
    width: '164px',
    isNumber: true,
    rank: 'slight',
    cell: ({ balances }) => <Balance balances={balances} />,
    hint: ({ balances }) => balances.map(balanceHint).join('\n')
  },
  {
    title: 'Last error',
    isProse: true,
    rank: 'spare',
    cell: row => <LastError row={row} />,
    hint: ({ failure }) => failure ?? ''
  }
]

const accountColumn: Column<EngineRow> = {
  title: 'Account',
  isProse: true,
  width: '120px',
  rank: 'spare',
  cell: ({ username }) => username ?? '–'
}

const NoEngines = ({ view }: { readonly view: View }): ReactElement => {
  const canRun = useCanRunActions()
  return (
    <div className="body">
      <div className="main">
        {[...view.accounts.values()].some(({ isLoggedIn }) => isLoggedIn) ? (
          <EmptyState title="No wallets yet">
            <p>
              Each wallet has an engine that follows its chain. The engines appear here.{' '}
              {canRun ? (
                <>
                  Create a wallet in the bar above, or with <code>holdfast wallets create</code>.
                </>
              ) : null}
            </p>
          </EmptyState>
        ) : (
          <EmptyState title="No account is logged in">
            <p>
              {canRun ? 'Create an account or log in in the bar above. ' : ''}
              The wallets of an account appear here, with the sync progress, balances and last error of their
              engines.
            </p>
          </EmptyState>
        )}
      </div>
    </div>
  )
}

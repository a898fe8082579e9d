import type { ReactElement } from 'react'
import type { EngineSnapshot, WalletSnapshot } from '../../../kernel/index.ts'
import type { View } from '../../core/slices.ts'
import { usePanel, useView } from '../panel-state.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState, NoMatch } from '../parts/empty-state.tsx'
import { FilterField, matches } from '../parts/filter-field.tsx'
import { EngineState, SyncBar, walletName } from '../parts/wallet-parts.tsx'
import { amountText } from '../texts.ts'
import { WalletSide } from './wallet-side.tsx'

/** One row for each wallet's engine: how far it is, what it holds, what went wrong. */
export const EnginesPanel = (): ReactElement => {
  const view = useView()
  const { go, location } = usePanel()
  const all = rowsOf(view)
  const rows = all.filter(({ wallet, engine }) =>
    matches(location.filter, [
      wallet.name ?? '',
      wallet.walletId,
      wallet.pluginId,
      engine?.state,
      engine?.failure
    ])
  )
  const chosen = all.find(({ wallet }) => wallet.walletId === location.id)
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
              columns={columns}
              rows={rows}
              keyOf={({ wallet }) => wallet.walletId}
              chosen={location.id}
              onOpen={({ wallet }) => go({ id: wallet.walletId })}
            />
          )}
        </div>
        {chosen === undefined ? null : <WalletSide wallet={chosen.wallet} engine={chosen.engine} />}
      </div>
    </>
  )
}

interface EngineRow {
  readonly wallet: WalletSnapshot
  readonly engine: EngineSnapshot | undefined
}

const rowsOf = ({ wallets, engines }: View): readonly EngineRow[] =>
  [...wallets.values()].map(wallet => ({ wallet, engine: engines.get(wallet.walletId) }))

const columns: readonly Column<EngineRow>[] = [
  {
    title: 'Wallet',
    width: '22%',
    cell: ({ wallet }) => walletName(wallet),
    hint: ({ wallet }) => wallet.walletId
  },
  { title: 'Currency', width: '110px', rank: 'slight', cell: ({ wallet }) => wallet.pluginId },
  { title: 'Engine', width: '124px', cell: ({ engine }) => <EngineState engine={engine} /> },
  {
    title: 'Synced',
    width: '128px',
    cell: ({ engine }) => (engine === undefined ? '–' : <SyncBar ratio={engine.syncRatio} />)
  },
  {
    title: 'Height',
    width: '96px',
    isNumber: true,
    rank: 'minor',
    cell: ({ engine }) =>
      engine === undefined || engine.blockHeight === 0 ? '–' : amountText(String(engine.blockHeight))
  },
  {
    title: 'Balance',
    width: '150px',
    isNumber: true,
    rank: 'slight',
    cell: ({ wallet }) => <Balance wallet={wallet} />,
    hint: ({ wallet }) => `${amountText(wallet.balances[''] ?? '0')} native units`
  },
  {
    title: 'Last error',
    rank: 'spare',
    cell: ({ engine }) =>
      engine?.failure === undefined ? (
        <span className="soft">none</span>
      ) : (
        <span className="bad">{engine.failure}</span>
      ),
    hint: ({ engine }) => engine?.failure ?? ''
  }
]

const Balance = ({ wallet }: { readonly wallet: WalletSnapshot }): ReactElement => {
  const tokens = Object.keys(wallet.balances).filter(id => id !== '').length
  return (
    <>
      {amountText(wallet.balances[''] ?? '0')}
      {tokens === 0 ? null : <span className="soft"> +{tokens}</span>}
    </>
  )
}

const NoEngines = ({ view }: { readonly view: View }): ReactElement => (
  <div className="body">
    <div className="main">
      {[...view.accounts.values()].some(({ isLoggedIn }) => isLoggedIn) ? (
        <EmptyState title="No wallets yet">
          <p>
            Each wallet runs an engine that follows its chain. Create a wallet with the strip above, or with{' '}
            <code>holdfast wallets create</code>, and its engine shows up here.
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="Nobody is logged in">
          <p>
            Create an account or log in with the strip above. Its wallets and their engines then show up here:
            how far each has synced, what it holds and what went wrong.
          </p>
        </EmptyState>
      )}
    </div>
  </div>
)

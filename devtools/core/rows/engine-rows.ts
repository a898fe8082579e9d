import { amountIn, balanceGradeText, NATIVE_UNITS } from '../../../app/format/amounts.ts'
import {
  type AccountSnapshot,
  type AmountUnits,
  compact,
  type EngineSnapshot,
  isNativeAmount,
  type SyncStage,
  syncStageOf,
  type TokenId,
  type WalletSnapshot
} from '../../../kernel/index.ts'
import { unitsOf } from '../model/amounts.ts'
import type { View } from '../model/slices.ts'

/** One step of an engine's life. */
export interface LifecycleStep {
  readonly name: EngineSnapshot['state']
  /** `ahead`: it may come yet; `skipped`: the other end came. */
  readonly mark: 'passed' | 'present' | 'ahead' | 'skipped'
}

/** A wallet's balance of one asset. */
export interface BalanceRow {
  /** null: the chain's own coin. */
  readonly tokenId: TokenId | null
  readonly nativeAmount: string
  /** As people write it, such as `0.5 BTC`. */
  readonly text: string
  /** The name of the asset; its id if no table lists it. */
  readonly name: string
  /** The parts that cannot be spent yet, and why, such as `0.1 BTC incoming`. */
  readonly heldBack?: readonly string[]
  /** How well it is known, such as `claimed (payments proven)`. */
  readonly grade?: string
}

/** One engine with its wallet. */
export interface EngineRow extends EngineSnapshot {
  /** The wallet's name, or what it is called by when it has none. */
  readonly title: string
  readonly isNamed: boolean
  readonly accountId?: string
  readonly username?: string
  readonly stage: SyncStage
  /** Created, started, then stopped or failed. */
  readonly steps: readonly LifecycleStep[]
  /** The coin first, then the tokens of which there are some. */
  readonly balances: readonly BalanceRow[]
}

/** One row an engine: by account, in the account's order of wallets, then those of no open account (pure). */
export const engineRows = (view: View): readonly EngineRow[] => {
  const rows: EngineRow[] = []
  const placed = new Set<string>()
  for (const account of view.accounts.values()) {
    for (const walletId of account.walletIds) {
      const engine = view.engines.get(walletId)
      if (engine === undefined || placed.has(walletId)) continue
      placed.add(walletId)
      rows.push(rowOf(view, engine, account))
    }
  }
  if (placed.size < view.engines.size)
    for (const engine of view.engines.values())
      if (!placed.has(engine.walletId)) rows.push(rowOf(view, engine))
  return rows
}

/** A row, and what it was made of besides its engine. */
interface MadeRow {
  readonly row: EngineRow
  readonly wallet: WalletSnapshot | undefined
  readonly account: AccountSnapshot | undefined
  readonly plugins: View['plugins']
}

/** The newest row of each engine: of thousands one or two change at a time, ten times a second. */
const made = new WeakMap<EngineSnapshot, MadeRow>()

const rowOf = (view: View, engine: EngineSnapshot, account?: AccountSnapshot): EngineRow => {
  const { plugins } = view
  const wallet = view.wallets.get(engine.walletId)
  const known = made.get(engine)
  if (
    known !== undefined &&
    known.wallet === wallet &&
    known.account === account &&
    known.plugins === plugins
  )
    return known.row
  const row = makeRow(view, engine, { wallet, account })
  made.set(engine, { row, wallet, account, plugins })
  return row
}

const makeRow = (
  view: View,
  engine: EngineSnapshot,
  { wallet, account }: Pick<MadeRow, 'account' | 'wallet'>
): EngineRow => {
  const name = wallet?.name ?? ''
  return {
    ...engine,
    title: name === '' ? (wallet?.type ?? engine.pluginId) : name,
    isNamed: name !== '',
    ...compact({
      accountId: account?.accountId,
      username: account?.username
    }),
    stage: syncStageOf(engine),
    steps: stepsOf(engine.state),
    balances: wallet === undefined ? [] : balancesOf(view, wallet)
  }
}

const stepsOf = (state: EngineSnapshot['state']): readonly LifecycleStep[] => {
  const at = ORDER.indexOf(state)
  const hasEnded = state === 'stopped' || state === 'failed'
  return ORDER.map((name, index) => {
    if (name === state) return { name, mark: 'present' }
    if (name === 'stopped' || name === 'failed') return { name, mark: hasEnded ? 'skipped' : 'ahead' }
    // An engine that failed may never have started: unknown.
    if (name === 'started' && state === 'failed') return { name, mark: 'skipped' }
    return { name, mark: index < at ? 'passed' : 'ahead' }
  })
}

const ORDER: readonly EngineSnapshot['state'][] = ['created', 'started', 'stopped', 'failed']

/** Lists the parts of a balance that cannot be spent yet, and why; empty for a recording without these details. */
const heldBackOf = (
  { balanceDetails = {} }: Pick<WalletSnapshot, 'balanceDetails'>,
  key: string,
  units: AmountUnits
): readonly string[] => {
  const details = new Map(Object.entries(balanceDetails)).get(key)
  return (['incoming', 'immature', 'reserved', 'frozen'] as const).flatMap(part => {
    const native: unknown = details?.[part]
    return isNativeAmount(native) && native !== '0' ? [`${amountIn(native, units)} ${part}`] : []
  })
}

const balancesOf = (view: View, wallet: WalletSnapshot): readonly BalanceRow[] => {
  const { walletId, pluginId, balances } = wallet
  const rows: BalanceRow[] = []
  for (const [key, nativeAmount] of Object.entries(balances)) {
    const tokenId = key === '' ? null : key
    if (tokenId !== null && nativeAmount === '0') continue
    const units = unitsOf(view, { walletId, tokenId })
    const name = units === NATIVE_UNITS ? (tokenId ?? pluginId) : units.displayName
    const heldBack = heldBackOf(wallet, key, units)
    const row = {
      ...{ tokenId, nativeAmount, text: amountIn(nativeAmount, units), name },
      ...compact({
        heldBack: heldBack.length === 0 ? undefined : heldBack,
        grade:
          balanceGradeText(new Map(Object.entries(wallet.balanceDetails ?? {})).get(key) ?? {}) || undefined
      })
    }
    if (tokenId === null) rows.unshift(row)
    else rows.push(row)
  }
  return rows
}

import { type Asset, amountJson, balanceGradeText, isMax } from '../../../app/format/amounts.ts'
import { pathText } from '../../../app/format/routes.ts'
import {
  amountText,
  type CurrencyWallet,
  compact,
  type JsonObject,
  type NativeAmount,
  parseAmount,
  sum,
  toDenomination,
  WalletError
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CellLike, CommandResult, TableView } from '../../output/view.ts'
import { balanceJson, heldBackText, syncCell, syncJson } from '../../output/wallet-texts.ts'
import { refreshRates } from '../../rates/find-rate.ts'
import { ageCell } from '../../rates/route-text.ts'
import {
  fiatCodeOf,
  keepRatesFresh,
  openValuation,
  totalWorth,
  valuationOf,
  type Worth,
  worthJson,
  worthText
} from '../../rates/worth.ts'
import { chosenAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet, findWallets, leftOutWarnings, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { chosenAssets } from '../../session/transaction-selection.ts'
import { watchResult } from '../../session/watch.ts'

/** Shows the balances of some wallets, or of all, and with `--fiat` what they are worth. */
export const balance: CommandRun = async (session, ...texts) => {
  const wanted = texts.filter(text => text !== undefined)
  if (!session.isOn('watch')) return balanceResult(session, wanted)
  let stop = (): void => {}
  const keep: KeepFresh = next => {
    stop()
    stop = next
  }
  try {
    return await watchResult(session, 'balance', () => balanceResult(session, wanted, keep))
  } finally {
    stop()
  }
}

/** Replaces the function that stops refreshing the rates; given while the balances are watched. */
type KeepFresh = (stop: () => void) => void

const OFFLINE = 'offline: these are the last values that this device knew'

interface Holding {
  readonly wallet: CurrencyWallet
  readonly asset: Asset
  readonly amount: NativeAmount
  /** Undefined without a rate to the currency of `--fiat`, or without the flag. */
  readonly worth: Worth | undefined
}

const balanceResult = async (
  session: Session,
  wanted: readonly string[],
  keep?: KeepFresh
): Promise<CommandResult> => {
  const found = await findWallets(session, wanted)
  const wallets = found.filter(wallet => !wallet.getSnapshot().isPaused)
  const warnings = [
    ...(await leftOutWarnings(session, wanted)),
    ...found.filter(wallet => !wallets.includes(wallet)).map(pausedSentence),
    ...(keep === undefined ? await syncWallets(session, wallets) : []),
    ...(session.globals.offline && wallets.length > 0 ? [OFFLINE] : [])
  ]
  const held = (await chosenAssets(session, wallets))
    .map(({ wallet, asset }) => ({ wallet, asset, amount: wallet.balanceOf(asset.tokenId) }))
    .filter(holding => isShown(session, holding))
  const holdings = await valued(session, held, keep)
  const totals = session.isOn('total') ? totalsOf(holdings) : []
  const fiat = session.text('fiat') === undefined ? undefined : fiatTotalOf(holdings)
  return {
    data: {
      balances: holdings.map(holding => holdingJson(holding, fiat !== undefined)),
      ...compact({
        totals: session.isOn('total') ? totals.map(total => totalJson(total, fiat !== undefined)) : undefined,
        fiatTotal: fiat && (fiat.worth === undefined ? null : fiatJson(fiat))
      })
    },
    warnings: [...warnings, ...(fiat?.missing ?? []).map(missingSentence)],
    view: tableOf(holdings, totals, fiat)
  }
}

/** The coin is always shown; a token if its balance is not zero, or if a flag selects it. */
const isShown = (session: Session, { asset, amount }: Pick<Holding, 'amount' | 'asset'>): boolean =>
  asset.tokenId === null || amount !== '0' || session.isOn('zero') || session.text('token') !== undefined

const valued = async (
  session: Session,
  held: readonly Omit<Holding, 'worth'>[],
  keep: KeepFresh | undefined
): Promise<readonly Holding[]> => {
  const code = session.text('fiat')
  if (code === undefined) return held.map(holding => ({ ...holding, worth: undefined }))
  const assets = held.map(({ asset }) => asset)
  keep?.(await keepRatesFresh(session, code, assets))
  const valuation = await (keep ? valuationOf(session, code) : openValuation(session, code, assets))
  return held.map(holding => ({ ...holding, worth: valuation(holding.amount, holding.asset) }))
}

const holdingJson = (holding: Holding, hasFiat: boolean): JsonObject => ({
  walletId: holding.wallet.id,
  name: holding.wallet.name,
  pluginId: holding.wallet.currencyInfo.pluginId,
  ...balanceJson(holding.wallet, holding.asset),
  ...compact({ fiat: hasFiat ? worthJson(holding.worth) : undefined }),
  sync: syncJson(holding.wallet.engine.getSnapshot())
})

const tableOf = (
  holdings: readonly Holding[],
  totals: readonly Holding[],
  fiat: FiatTotal | undefined
): TableView => {
  const heldBack = holdings.map(({ wallet, asset }) => heldBackText(wallet, asset))
  // Most wallets can spend their whole balance, so this column is often left out.
  const heldBackCells = (text: string): readonly CellLike[] =>
    heldBack.some(held => held !== '') ? [text] : []
  return {
    kind: 'table',
    columns: [
      { title: 'NAME', canShrink: true },
      { title: 'BALANCE', align: 'right' },
      ...heldBackCells('').map(() => ({ title: 'NOT SPENDABLE YET' })),
      ...(fiat === undefined ? [] : [{ title: 'VALUE', align: 'right' } as const, { title: 'RATE' }]),
      { title: 'GRADE' },
      { title: 'STATE' },
      { title: 'ID', canShrink: true }
    ],
    rows: [
      ...holdings.map(({ wallet, asset, amount, worth }, at) => [
        wallet.name ?? '',
        amountText(amount, asset),
        ...heldBackCells(heldBack[at] ?? ''),
        ...valueCells(worth, fiat),
        balanceGradeText(wallet.balanceDetailsOf(asset.tokenId)),
        syncCell(wallet.engine.getSnapshot()),
        wallet.id
      ]),
      ...totals.map(({ asset, amount, worth }) =>
        totalRow(amountText(amount, asset), { worth, fiat, held: heldBackCells('') })
      ),
      ...(fiat?.worth === undefined
        ? []
        : [totalRow('', { worth: fiat.worth, fiat, held: heldBackCells('') })])
    ],
    empty: 'This account has no wallet yet. Create one with: holdfast wallets create bitcoin'
  }
}

/** Returns the cells of the value and the age of its rate; none without `--fiat`. */
const valueCells = (worth: Worth | undefined, fiat: FiatTotal | undefined): readonly CellLike[] => {
  if (fiat === undefined) return []
  return [worthText(worth), worth === undefined ? { text: 'no rate', tone: 'warn' } : ageCell(worth.route)]
}

const totalRow = (
  amount: string,
  {
    worth,
    fiat,
    held
  }: {
    readonly worth: Worth | undefined
    readonly fiat: FiatTotal | undefined
    readonly held: readonly CellLike[]
  }
): readonly CellLike[] => [
  { text: 'in all', tone: 'strong' },
  { text: amount, tone: 'strong' },
  ...held,
  ...valueCells(worth, fiat),
  '',
  '',
  ''
]

const pausedSentence = ({ id, name }: CurrencyWallet): string =>
  `${name ?? id} is paused on this device, so its balance is not updated`

/** One sum for each asset; amounts of different ones are never added. */
const totalsOf = (holdings: readonly Holding[]): readonly Holding[] => {
  const byAsset = new Map<string, Holding[]>()
  for (const holding of holdings) {
    const key = `${holding.wallet.currencyInfo.pluginId} ${holding.asset.tokenId ?? ''}`
    byAsset.set(key, [...(byAsset.get(key) ?? []), holding])
  }
  return [...byAsset.values()].flatMap(same => {
    const [first] = same
    if (first === undefined) return []
    const worth = totalWorth(same.flatMap(holding => holding.worth ?? []))
    return [{ ...first, amount: sum(same.map(({ amount }) => amount)), worth }]
  })
}

const totalJson = ({ wallet, asset, amount, worth }: Holding, hasFiat: boolean): JsonObject => ({
  pluginId: wallet.currencyInfo.pluginId,
  tokenId: asset.tokenId,
  ...amountJson(amount, asset),
  ...compact({ fiat: hasFiat ? worthJson(worth) : undefined })
})

/** The value of all holdings that have a rate. */
interface FiatTotal {
  /** Undefined if no holding has a rate. */
  readonly worth: Worth | undefined
  /** Codes of the holdings without a rate. */
  readonly missing: readonly string[]
}

const fiatTotalOf = (holdings: readonly Holding[]): FiatTotal => ({
  worth: totalWorth(holdings.flatMap(({ worth }) => worth ?? [])),
  missing: [
    ...new Set(
      holdings
        .filter(({ worth, amount }) => worth === undefined && amount !== '0')
        .map(({ asset }) => asset.currencyCode)
    )
  ]
})

const fiatJson = ({ worth, missing }: FiatTotal): JsonObject => ({
  ...worthJson(worth),
  complete: missing.length === 0
})

const missingSentence = (code: string): string => `no rate is known for ${code}, which the sum leaves out`

/** Converts an amount between the units of a wallet's asset, exactly, or into fiat money. */
export const amount: CommandRun = async (session, text = '', typed = '') => {
  const to = session.text('to')
  if (isMax(typed)) throw new CliError('USAGE', 'Convert an amount, not max')
  const wallet = await findWallet(session, text, 'any')
  const asset = await chosenAsset(session, wallet)
  const native = parseAmount(typed, asset)
  if (to !== undefined && /^iso:/i.test(to)) return inMoney(session, wallet, { asset, native, to })
  const units = [...asset.denominations, { name: 'native', multiplier: '1' }]
  const wanted =
    to === undefined ? units : units.filter(({ name }) => name.toLowerCase() === to.toLowerCase())
  if (wanted.length === 0) {
    throw new CliError('USAGE', `"${to}" is no unit of ${asset.displayName}`, {
      hint: `Use one of ${units.map(({ name }) => name).join(', ')}.`
    })
  }
  const amounts = wanted.map(({ name, multiplier }) => ({
    unit: name,
    amount: toDenomination(native, multiplier)
  }))
  return {
    data: { tokenId: asset.tokenId, ...amountJson(native, asset), amounts },
    view: {
      kind: 'table',
      columns: [{ title: 'AMOUNT', align: 'right' }, { title: 'UNIT' }],
      rows: amounts.map(({ unit, amount: value }) => [value, unit]),
      empty: ''
    }
  }
}

interface Wanted {
  readonly asset: Asset
  readonly native: NativeAmount
  readonly to: string
}

const inMoney = async (
  session: Session,
  { id: walletId }: CurrencyWallet,
  { asset, native, to }: Wanted
): Promise<CommandResult> => {
  const code = fiatCodeOf(to)
  await refreshRates(session, [{ fromCurrency: asset.currencyCode, toCurrency: code }])
  const { rateActions } = await import('../../../app/actions/rates.ts')
  const found = await session.run(rateActions['rates.value'], {
    ...{ walletId, nativeAmount: native, to: code },
    ...compact({ tokenId: asset.tokenId ?? undefined })
  })
  if (found.worth === null) throw new WalletError('NO_RATE', { from: asset.currencyCode, to: code })
  const worth = { code, ...found.worth }
  return {
    data: { tokenId: asset.tokenId, ...amountJson(native, asset), fiat: worthJson(worth) },
    view: {
      kind: 'record',
      fields: [
        [amountText(native, asset), { text: worthText(worth), tone: 'strong' }],
        ['age', ageCell(worth.route)],
        ['route', pathText(worth.route)]
      ]
    }
  }
}

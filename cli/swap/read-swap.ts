import { type Asset, isMax } from '../../app/format/amounts.ts'
import {
  type CurrencyWallet,
  compact,
  type NativeAmount,
  parseAmount,
  type SwapOptions,
  type SwapPlugin,
  type SwapRequest,
  ZERO
} from '../../kernel/index.ts'
import { CliError, isCliError } from '../errors/cli-error.ts'
import { parsePairs } from '../grammar/options.ts'
import { coinOf, findAsset } from '../session/assets.ts'
import { findWallet } from '../session/find-wallets.ts'
import type { Session } from '../session/session.ts'

/** The request of a swap command, with its sides, options and limits. */
export interface SwapQuery {
  readonly sides: SwapSides
  readonly request: SwapRequest
  readonly options: SwapOptions & { readonly waitMs: number }
  readonly limits: SwapLimits
}

/** The limits that the user sets. */
export interface SwapLimits {
  readonly minReceive?: NativeAmount
  /** The highest payment, without the network fee. */
  readonly maxPay?: NativeAmount
  /** In native units of the paying chain's own coin. */
  readonly maxNetworkFee?: NativeAmount
}

/**
 * Reads the flags of `swap quote` and `swap run`, and syncs both wallets.
 *
 * @throws CliError USAGE, NOT_FOUND; AMOUNT_INVALID, DEADLINE
 */
export const readSwap = async (session: Session): Promise<SwapQuery> => {
  const quoteFor = readQuoteFor(session)
  const [fromText, toText] = [session.text('from'), session.text('to')]
  if (fromText === undefined) throw new CliError('USAGE', 'Name the asset to pay with: --from <wallet>')
  if (toText === undefined) throw new CliError('USAGE', 'Name the asset to receive: --to <wallet>')
  const options = await readOptions(session)
  const sides = { from: await findSide(session, fromText), to: await findSide(session, toText) }
  const nativeAmount = amountOf(session, quoteFor, sides)
  const limits = limitsOf(session, sides)
  await Promise.all([session.synced(sides.from.wallet), session.synced(sides.to.wallet)])
  return {
    sides,
    request: {
      fromWallet: sides.from.wallet,
      toWallet: sides.to.wallet,
      fromTokenId: sides.from.asset.tokenId,
      toTokenId: sides.to.asset.tokenId,
      nativeAmount,
      quoteFor
    },
    options,
    limits
  }
}

type QuoteFor = SwapRequest['quoteFor']

const readQuoteFor = (session: Session): QuoteFor => {
  const [amount, side] = [session.text('amount'), session.text('for') as QuoteFor | undefined]
  const wantsAll = amount !== undefined && isMax(amount)
  if (side === 'max' && amount !== undefined && !wantsAll) {
    throw new CliError('USAGE', '--for max pays the whole balance; leave out --amount')
  }
  if (wantsAll && side === 'to')
    throw new CliError('USAGE', '--amount max is the amount to pay; leave out --for')
  if (wantsAll || side === 'max') return 'max'
  if (amount === undefined) throw new CliError('USAGE', 'Give the amount: --amount <amount>, or --amount max')
  return side ?? 'from'
}

const amountOf = (session: Session, side: QuoteFor, { from, to }: SwapSides): NativeAmount =>
  side === 'max' ? ZERO : parseAmount(session.text('amount') ?? '', side === 'to' ? to.asset : from.asset)

/** Reads the flags of the limits. @throws CliError USAGE; AMOUNT_INVALID */
export const limitsOf = (session: Session, { from, to }: SwapSides): SwapLimits => {
  const [least, most, fee] = ['minReceive', 'maxPay', 'maxFee'].map(flag => session.text(flag))
  return compact({
    minReceive: least === undefined ? undefined : parseAmount(least, to.asset),
    maxPay: most === undefined ? undefined : parseAmount(most, from.asset),
    maxNetworkFee: fee === undefined ? undefined : parseAmount(fee, coinOf(from.wallet))
  })
}

/** Reads the options; an unknown provider is an error, since a misspelled exclusion would not exclude it. */
const readOptions = async (session: Session): Promise<SwapQuery['options']> => {
  const idOf = async (text: string): Promise<string> => (await findProvider(session, text)).id
  const [prefer, preferType] = [session.text('prefer'), session.text('preferType')]
  const promoCodes = Object.entries(parsePairs(session.texts('promo'), 'promotion code'))
  return {
    ...compact({
      preferPluginId: prefer === undefined ? undefined : await idOf(prefer),
      preferType: preferType as 'CEX' | 'DEX' | undefined
    }),
    disabled: await Promise.all(session.texts('disable').map(idOf)),
    promoCodes: Object.fromEntries(
      await Promise.all(promoCodes.map(async ([text, code]) => [await idOf(text), code] as const))
    ),
    waitMs: waitOf(session)
  }
}

/** Returns how long to wait for quotes, in milliseconds: `--timeout`, else at most 20 seconds; a minute with `--all`. */
export const waitOf = (session: Session): number => {
  if (session.isOn('all')) return LONGEST_MS
  const { timeoutMs } = session.globals
  return session.text('timeout') === undefined ? Math.min(timeoutMs, USUAL_MS) : timeoutMs
}

const USUAL_MS = 20_000
// The limit of each provider.
const LONGEST_MS = 60_000

/** One side of a swap: an asset, and the wallet that holds it. */
export interface SwapSide {
  readonly wallet: CurrencyWallet
  readonly asset: Asset
}

/** Both sides of a swap. */
export interface SwapSides {
  readonly from: SwapSide
  readonly to: SwapSide
}

/**
 * Finds the wallet and asset of `wallet` or `wallet:token`. The name of a wallet may contain a colon, so the whole text
 * is tried first.
 *
 * @throws CliError NOT_FOUND, USAGE
 */
const findSide = async (session: Session, text: string): Promise<SwapSide> => {
  const colon = text.lastIndexOf(':')
  try {
    const wallet = await findWallet(session, text)
    return { wallet, asset: coinOf(wallet) }
  } catch (error) {
    if (colon < 1 || !isCliError(error) || error.code !== 'NOT_FOUND') throw error
  }
  const wallet = await findWallet(session, text.slice(0, colon))
  return { wallet, asset: await findAsset(session, wallet, text.slice(colon + 1)) }
}

/** Names a side: `Savings`, or the id of its wallet. */
export const sideName = ({ wallet }: SwapSide): string => wallet.name ?? wallet.id

/** Finds a swap provider by its id. @throws CliError NOT_FOUND with the known ids */
export const findProvider = async (session: Session, text: string): Promise<SwapPlugin> => {
  const plugins = await session.swapPlugins()
  const found = plugins.find(({ id }) => id.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `There is no provider of swaps "${text}"`, {
    hint: `Use one of ${plugins.map(({ id }) => id).join(', ')}.`
  })
}

import {
  type NativeAmount,
  parseAmount,
  type SwapOptions,
  type SwapRequest,
  ZERO
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parsePairs } from '../grammar/values.ts'
import { isMax } from '../output/amounts.ts'
import { coinOf } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'
import { findProvider } from './find-provider.ts'
import { findPlace, type SwapPlaces } from './swap-place.ts'

/** What a command asks quotes for. */
export interface AskedSwap {
  readonly places: SwapPlaces
  readonly wish: SwapRequest
  readonly options: SwapOptions & { readonly waitMs: number }
  readonly limits: SwapLimits
}

/** What a person allows at the worst. */
export interface SwapLimits {
  readonly minReceive?: NativeAmount
  /** What is paid, without the network's fee. */
  readonly maxPay?: NativeAmount
  /** In native units of the paying chain's own coin. */
  readonly maxNetworkFee?: NativeAmount
}

/**
 * Reads the flags of `swap quote` and `swap run`, and lets both wallets see their chains.
 *
 * @throws CliError USAGE, NOT_FOUND; AMOUNT_INVALID, DEADLINE
 */
export const readSwap = async (session: Session): Promise<AskedSwap> => {
  const quoteFor = sideOf(session)
  const [fromText, toText] = [session.text('from'), session.text('to')]
  if (fromText === undefined) throw new CliError('USAGE', 'Say what to pay with: --from <wallet>')
  if (toText === undefined) throw new CliError('USAGE', 'Say where to receive: --to <wallet>')
  const options = await readOptions(session)
  const places = { from: await findPlace(session, fromText), to: await findPlace(session, toText) }
  const nativeAmount = amountOf(session, quoteFor, places)
  const limits = limitsOf(session, places)
  await Promise.all([session.synced(places.from.wallet), session.synced(places.to.wallet)])
  return {
    places,
    wish: {
      fromWallet: places.from.wallet,
      toWallet: places.to.wallet,
      fromTokenId: places.from.asset.tokenId,
      toTokenId: places.to.asset.tokenId,
      nativeAmount,
      quoteFor
    },
    options,
    limits
  }
}

type Side = SwapRequest['quoteFor']

const sideOf = (session: Session): Side => {
  const [amount, side] = [session.text('amount'), session.text('for') as Side | undefined]
  const wantsAll = amount !== undefined && isMax(amount)
  if (side === 'max' && amount !== undefined && !wantsAll) {
    throw new CliError('USAGE', '--for max takes all there is; leave --amount out')
  }
  if (wantsAll && side === 'to')
    throw new CliError('USAGE', '--amount max is of what is paid; leave --for out')
  if (wantsAll || side === 'max') return 'max'
  if (amount === undefined) throw new CliError('USAGE', 'Say how much: --amount <amount>, or --amount max')
  return side ?? 'from'
}

const amountOf = (session: Session, side: Side, { from, to }: SwapPlaces): NativeAmount =>
  side === 'max' ? ZERO : parseAmount(session.text('amount') ?? '', side === 'to' ? to.asset : from.asset)

/** Reads the flags that say what a person allows at the worst. @throws CliError USAGE; AMOUNT_INVALID */
export const limitsOf = (session: Session, { from, to }: SwapPlaces): SwapLimits => {
  const [least, most, fee] = ['minReceive', 'maxPay', 'maxFee'].map(flag => session.text(flag))
  return {
    ...(least === undefined ? {} : { minReceive: parseAmount(least, to.asset) }),
    ...(most === undefined ? {} : { maxPay: parseAmount(most, from.asset) }),
    ...(fee === undefined ? {} : { maxNetworkFee: parseAmount(fee, coinOf(from.wallet)) })
  }
}

/** A provider that is misspelled is none: it would be asked although it was excluded. */
const readOptions = async (session: Session): Promise<AskedSwap['options']> => {
  const idOf = async (text: string): Promise<string> => (await findProvider(session, text)).id
  const [prefer, preferType] = [session.text('prefer'), session.text('preferType')]
  const promoCodes = Object.entries(parsePairs(session.texts('promo'), 'promotion code'))
  return {
    ...(prefer === undefined ? {} : { preferPluginId: await idOf(prefer) }),
    ...(preferType === undefined ? {} : { preferType: preferType as 'CEX' | 'DEX' }),
    disabled: await Promise.all(session.texts('disable').map(idOf)),
    promoCodes: Object.fromEntries(
      await Promise.all(promoCodes.map(async ([text, code]) => [await idOf(text), code] as const))
    ),
    waitMs: waitOf(session)
  }
}

/** For how long quotes are waited for, in milliseconds: as `--timeout` says, else no longer than people have patience. */
export const waitOf = (session: Session): number => {
  if (session.isOn('all')) return LONGEST_MS
  const { timeoutMs } = session.globals
  return session.text('timeout') === undefined ? Math.min(timeoutMs, USUAL_MS) : timeoutMs
}

const USUAL_MS = 20_000
// No provider may take longer.
const LONGEST_MS = 60_000

import {
  type AmountUnits,
  type CurrencyWallet,
  type Grade,
  mainDenomination,
  type NativeAmount,
  type TokenId,
  toDenomination
} from '../../kernel/index.ts'
import {
  about,
  count,
  type Field,
  type FieldsOf,
  flag,
  nullable,
  number,
  oneOf,
  optional,
  ticker
} from './schema.ts'
import { tokenId } from './spend-review.ts'

/** The panel has the same in its tables, which the host keeps up to date. */
export const IN_TABLES: { readonly none: string } = {
  none: 'the panel shows it from its tables, without a request'
}

/** Part of a list: `limit` entries after the first `offset`. */
export interface Page {
  readonly offset?: number
  readonly limit?: number
}

/** The fields of a {@link Page} of at most so many entries. */
export const pageFields = (most: number, usual: number): FieldsOf<Page> => ({
  offset: optional(about(count(0, 1_000_000), 'The number of entries to leave out; 0 if left out')),
  limit: optional(about(count(1, most), `The most entries to give; ${usual} if left out`))
})

/** The part of a list that a page is (pure). */
export const pageOf = <T>(entries: readonly T[], { offset = 0, limit }: Page, usual: number): readonly T[] =>
  entries.slice(offset, offset + (limit ?? usual))

/** An asset with its units: `display` of an amount has so many decimals. */
export interface AssetUnits {
  /** null: the coin of the chain. */
  readonly tokenId: TokenId | null
  readonly currencyCode: string
  readonly decimals: number
}

/** The fields of {@link AssetUnits}. */
export const assetFields: FieldsOf<AssetUnits> = {
  tokenId: nullable(tokenId),
  currencyCode: ticker,
  decimals: about(count(0, 100), 'The decimals of display amounts')
}

/** The units of an asset of a wallet; native units of a token that the wallet does not know (pure). */
export const unitsOfAsset = (
  wallet: CurrencyWallet,
  asset: TokenId | null
): AssetUnits & { readonly displayName: string } => {
  const token = asset === null ? undefined : wallet.getSnapshot().tokens.find(each => each.tokenId === asset)
  const units: AmountUnits | undefined = asset === null ? wallet.currencyInfo : token
  if (units === undefined) return { tokenId: asset, currencyCode: '?', decimals: 0, displayName: asset ?? '' }
  const decimals = mainDenomination(units).multiplier.length - 1
  return { tokenId: asset, currencyCode: units.currencyCode, decimals, displayName: units.displayName }
}

/** An amount in the usual unit, as decimal text (pure). */
export const displayOf = (native: NativeAmount, { decimals }: Pick<AssetUnits, 'decimals'>): string =>
  toDenomination(native, `1${'0'.repeat(decimals)}`)

/** How well a balance is known. */
export const balanceGradeField: Field<Exclude<Grade, 'proven'>> = about(
  oneOf('agreed', 'claimed'),
  'agreed: two servers have the same history of each coin; claimed: one says so, also where its payments are proven'
)

/** How well a payment is known: the field of a transaction, and of what brought a balance. */
export const gradeField: Field<Grade> = about(
  oneOf('agreed', 'claimed', 'proven'),
  'Its block: proven by a header that is linked by work to a checkpoint, agreed by two servers, or claimed by one. Not that its coins are unspent'
)

/** The engine of a wallet. */
export interface EngineState {
  readonly state: 'created' | 'failed' | 'started' | 'stopped'
  readonly isPaused: boolean
  readonly syncRatio: number
  readonly blockHeight: number
}

/** The fields of {@link EngineState}. */
export const engineFields: FieldsOf<EngineState> = {
  state: oneOf('created', 'failed', 'started', 'stopped'),
  isPaused: flag,
  syncRatio: about(number, '0 to 1; below 1 the chain was not read to its end'),
  blockHeight: about(count(0, Number.MAX_SAFE_INTEGER), '0 before it is known')
}

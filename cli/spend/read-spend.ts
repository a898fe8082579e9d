import { type Asset, isMax } from '../../app/format/amounts.ts'
import {
  type CurrencyWallet,
  compact,
  type Memo,
  type Metadata,
  type NativeAmount,
  type NetworkFeeOption,
  type ParsedUri,
  parseAmount,
  type SpendInfo,
  type SpendTarget
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parsePairs } from '../grammar/options.ts'

/** The flags of `send`, as typed. */
export interface SendFlags {
  readonly to: readonly string[]
  readonly amounts: readonly string[]
  readonly fee: string | undefined
  readonly customFee: readonly string[]
  readonly noUnconfirmed?: boolean | undefined
  /** The txid of the open payment that this one replaces. */
  readonly replaces?: string
  /** The asset to pay in. */
  readonly asset: Asset
  readonly memos: readonly string[]
  readonly metadata: Metadata
}

/** The spend request, and its warnings. */
export interface ReadSpend {
  readonly spend: SpendInfo
  readonly warnings: readonly string[]
}

/**
 * Reads the amounts, recipients and fee of a payment.
 *
 * A payment link may bring its amount; `--amount` wins. `max` sends everything to the one recipient.
 *
 * @throws CliError USAGE; ADDRESS_INVALID, AMOUNT_INVALID, and the spend errors when the maximum is computed
 */
export const readSpend = async (wallet: CurrencyWallet, flags: SendFlags): Promise<ReadSpend> => {
  const { to, amounts, metadata, asset } = flags
  if (to.length === 0) throw new CliError('USAGE', 'Name the payee: --to <address>')
  if (amounts.length > to.length) throw new CliError('USAGE', 'There are more amounts than payees')
  const isMaximum = amounts.some(isMax)
  if (isMaximum && to.length > 1) throw new CliError('USAGE', 'max works only with one payee')
  const spendTargets: SpendTarget[] = []
  const warnings: string[] = []
  for (const [index, text] of to.entries()) {
    const amount = isMaximum ? undefined : amounts[index]
    const { legacyAddress, ...target } = await readTarget(wallet, text, { amount, asset })
    if (legacyAddress !== undefined) warnings.push(warningOf(wallet, legacyAddress))
    spendTargets.push(target)
  }
  const spend: SpendInfo = {
    tokenId: asset.tokenId,
    spendTargets,
    ...readFee(flags),
    ...compact({
      memos: flags.memos.length === 0 ? undefined : flags.memos.map(readMemo),
      noUnconfirmed: flags.noUnconfirmed,
      metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
      replaces: flags.replaces
    })
  }
  if (!isMaximum) return { spend, warnings }
  const most = await wallet.getMaxSpendable(spend)
  return {
    spend: { ...spend, spendTargets: spendTargets.map(target => ({ ...target, nativeAmount: most })) },
    warnings
  }
}

const warningOf = ({ currencyInfo }: CurrencyWallet, address: string): string =>
  `${address} has an old form that another currency uses, too: make sure that it is an address of ${currencyInfo.displayName}`

const readTarget = async (
  wallet: CurrencyWallet,
  text: string,
  { amount, asset }: { readonly amount: string | undefined; readonly asset: Asset }
): Promise<SpendTarget & Pick<ParsedUri, 'legacyAddress'>> => {
  const { publicAddress, legacyAddress, nativeAmount } = await wallet.parseUri(text)
  // The amount of a link is of the coin.
  const linked = asset.tokenId === null ? nativeAmount : undefined
  const wanted: NativeAmount | undefined = amount === undefined ? linked : parseAmount(amount, asset)
  return compact({ publicAddress, legacyAddress, nativeAmount: wanted })
}

const MEMO = /^(text|hex|number):(.*)$/s

/** `text:…`, `hex:…` or `number:…`; anything else is text as a whole. */
const readMemo = (text: string): Memo => {
  const [, type = 'text', value = text] = MEMO.exec(text) ?? []
  return { type: type as Memo['type'], value }
}

const readFee = ({ fee, customFee }: SendFlags): Pick<SpendInfo, 'customNetworkFee' | 'networkFeeOption'> => {
  if (customFee.length === 0) {
    if (fee === 'custom') {
      throw new CliError('USAGE', 'A custom fee needs its values', {
        hint: 'Add --custom-fee satPerByte=12.5'
      })
    }
    return fee === undefined ? {} : { networkFeeOption: fee as NetworkFeeOption }
  }
  if (fee !== undefined && fee !== 'custom') {
    throw new CliError('USAGE', `--custom-fee cannot be used with --fee ${fee}`)
  }
  return { networkFeeOption: 'custom', customNetworkFee: parsePairs(customFee, 'custom fee') }
}

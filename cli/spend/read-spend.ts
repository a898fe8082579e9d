import { paymentActions } from '../../app/actions/payments.ts'
import type { DraftRequest, SpendRequest } from '../../app/actions/spend-review.ts'
import { type Asset, isMax } from '../../app/format/amounts.ts'
import { type CurrencyWallet, compact, type Memo, parseAmount, WalletError } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parsePairs } from '../grammar/options.ts'
import type { Session } from '../session/session.ts'

/** The flags of `send`, as typed. */
export interface SendFlags {
  readonly to: readonly string[]
  readonly amounts: readonly string[]
  readonly fee: string | undefined
  readonly customFee: readonly string[]
  readonly withUnconfirmed?: boolean | undefined
  /** The txid of the open payment that this one replaces. */
  readonly replaces?: string
  /** The asset to pay in. */
  readonly asset: Asset
  readonly memos?: readonly string[]
  /** The coins to pay with; none: the wallet chooses. */
  readonly coins?: readonly string[]
  readonly notes?: DraftRequest['notes'] | undefined
}

/**
 * Reads the amounts, payees and fee of a payment.
 *
 * A payment link may bring its amount; `--amount` wins. `max` sends everything to the one payee.
 *
 * @throws CliError USAGE; ADDRESS_INVALID, AMOUNT_INVALID, and the spend errors when the maximum is computed
 */
export const readSpend = async (
  session: Session,
  wallet: CurrencyWallet,
  flags: SendFlags
): Promise<DraftRequest> => {
  const { to, amounts, asset, memos = [], notes = {}, coins = [], withUnconfirmed, replaces } = flags
  const [publicAddress] = to
  if (publicAddress === undefined) throw new CliError('USAGE', 'Name the payee: --to <address>')
  if (amounts.length > to.length) throw new CliError('USAGE', 'There are more amounts than payees')
  const isMaximum = amounts.some(isMax)
  if (isMaximum && to.length > 1) throw new CliError('USAGE', 'max works only with one payee')
  const paid: string[] = []
  for (const [index, text] of isMaximum ? [] : to.entries())
    paid.push(await amountOf(wallet, text, { amount: amounts[index], asset }))
  const request: SpendRequest = {
    ...{ walletId: wallet.id, publicAddress, ...readFee(flags) },
    ...compact({
      tokenId: asset.tokenId ?? undefined,
      memos: memos.length === 0 ? undefined : memos.map(readMemo),
      notes: Object.keys(notes).length === 0 ? undefined : notes,
      withUnconfirmed,
      replaces,
      coins: coins.length === 0 ? undefined : coins
    })
  }
  if (isMaximum) return { ...request, ...(await session.run(paymentActions['spend.max'], request)) }
  const [nativeAmount = '', ...rest] = paid
  const others = rest.map((part, index) => ({ publicAddress: to[index + 1] ?? '', nativeAmount: part }))
  return { ...request, nativeAmount, ...compact({ others: others.length === 0 ? undefined : others }) }
}

/** Returns the amount of `--amount`, else that of a payment link, which is of the coin. */
const amountOf = async (
  wallet: CurrencyWallet,
  text: string,
  { amount, asset }: { readonly amount: string | undefined; readonly asset: Asset }
): Promise<string> => {
  if (amount !== undefined) return parseAmount(amount, asset)
  const { nativeAmount } = await wallet.parseUri(text)
  if (nativeAmount !== undefined && asset.tokenId === null) return nativeAmount
  throw new WalletError('NO_AMOUNT_SPECIFIED', {})
}

const MEMO = /^(text|hex|number):(.*)$/s

/** `text:…`, `hex:…` or `number:…`; anything else is text as a whole. */
const readMemo = (text: string): Memo => {
  const [, type = 'text', value = text] = MEMO.exec(text) ?? []
  return { type: type as Memo['type'], value }
}

/** Reads the fee: a level, or values of one's own. @throws CliError USAGE */
export const readFee = ({
  fee,
  customFee
}: Pick<SendFlags, 'customFee' | 'fee'>): Pick<SpendRequest, 'customFee' | 'fee'> => {
  if (customFee.length === 0) {
    if (fee === 'custom') {
      throw new CliError('USAGE', 'A custom fee needs its values', {
        hint: 'Add --custom-fee satPerByte=12.5'
      })
    }
    return fee === undefined ? {} : { fee: fee as Exclude<SpendRequest['fee'], undefined> }
  }
  if (fee !== undefined && fee !== 'custom') {
    throw new CliError('USAGE', `--custom-fee cannot be used with --fee ${fee}`)
  }
  return { customFee: parsePairs(customFee, 'custom fee') }
}

import { type ReactElement, useState } from 'react'
import type { ActionFailure } from '../../../app/actions/action-error.ts'
import type { SpendRequest } from '../../../app/actions/spend-review.ts'
import { amountIn, readAmount } from '../../../app/format/amounts.ts'
import {
  type AmountUnits,
  compact,
  mainDenomination,
  nativeAmount,
  type TokenId,
  toDenomination,
  type WalletId,
  type WalletSnapshot
} from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import type { View } from '../../core/model/slices.ts'
import { ActionButton, ActionForm } from '../parts/action-forms.tsx'
import { Section } from '../parts/details.tsx'
import {
  FeeFields,
  type FeeTemplate,
  feeAt,
  feeTemplateOf,
  readFee,
  type TypedFee
} from '../parts/fee-fields.tsx'
import { AmountField, ChoiceField, TextField } from '../parts/fields.tsx'
import { type FailureHandler, usePanel, useView } from '../state/panel-state.ts'
import { type ChosenCoins, CoinChoice } from './coin-choice.tsx'

/** Pays from a wallet, after a review: in its coin or one of its tokens, an amount or all there is. */
export const SendForm = ({ walletId }: { readonly walletId: WalletId }): ReactElement => (
  <Section title="Send">
    <SendFields walletId={walletId} />
  </Section>
)

const SendFields = ({ walletId }: { readonly walletId: WalletId }): ReactElement => {
  const form = useSpendForm(walletId)
  const { typed, change, changeOf, changeCoins, assets, units, native, request, refuse, errorOf } = form
  return (
    <ActionForm
      name="spend.draft"
      input={{ ...request, nativeAmount: native ?? '0' }}
      label="Review…"
      isReady={request.publicAddress !== '' && native !== undefined && form.hasFee}
      onFailure={refuse}
    >
      {assets.length < 2 ? null : (
        <ChoiceField
          label="Pay in"
          value={request.tokenId ?? COIN}
          choices={assets}
          onChange={token => change({ token, amount: '', coins: NO_COINS })}
        />
      )}
      <TextField
        label="Address"
        isWide
        value={typed.address}
        onChange={address => change({ address })}
        error={errorOf('address')}
      />
      <AmountField
        label="Amount"
        units={units}
        value={typed.amount}
        onChange={amount => change({ amount })}
        error={errorOf('amount')}
      />
      <ActionButton
        name="spend.max"
        input={request}
        // What can be sent hangs on the fee, and the fee on who is paid.
        isDisabled={request.publicAddress === '' || !form.hasFee}
        onFailure={refuse}
        onDone={({ nativeAmount: most }) =>
          changeOf(typed.token, {
            amount: toDenomination(nativeAmount(most), mainDenomination(units).multiplier)
          })
        }
      >
        Max
      </ActionButton>
      <FeeFields
        {...{ value: typed.fee, template: form.template, error: errorOf('fee') }}
        onChange={fee => change({ fee })}
      />
      {request.tokenId === undefined ? (
        <CoinChoice {...{ walletId, chosen: typed.coins, error: errorOf('coins') }} onChange={changeCoins} />
      ) : null}
    </ActionForm>
  )
}

/** The typed values, the amount they give, and the field that the wallet refused last. */
const useSpendForm = (walletId: WalletId): SpendForm => {
  const view = useView()
  const [typed, setTyped] = useState(EMPTY)
  const [refusal, setRefusal] = useState<SpendRefusal | undefined>()
  const assets = assetsOf(view, walletId)
  // A token that was switched off meanwhile is paid no more, and an amount of it is none of the coin.
  if (typed.token !== COIN && !assets.some(([id]) => id === typed.token))
    setTyped({ ...typed, token: COIN, amount: '' })
  const { sent: payments } = usePanel().memory
  const sent = payments.has(walletId) ? (payments.get(walletId) ?? 'unsure') : 'nothing'
  const [seen, setSeen] = useState(sent)
  // What was paid with is spent, or may be.
  if (seen !== sent) {
    setSeen(sent)
    setTyped({ ...typed, coins: NO_COINS })
  }
  const tokenId = typed.token === COIN ? undefined : typed.token
  const units = unitsOf(view, { walletId, tokenId })
  const template = feeTemplateOf(view, walletId)
  const fee = readFee(typed.fee, template)
  return {
    ...{ typed, assets, units, template, hasFee: fee !== undefined },
    change(changes) {
      setRefusal(undefined)
      setTyped(before => ({ ...before, ...changes }))
    },
    changeOf(token, changes) {
      setRefusal(undefined)
      setTyped(before => (before.token === token ? { ...before, ...changes } : before))
    },
    changeCoins(update) {
      setRefusal(undefined)
      setTyped(before => ({ ...before, coins: update(before.coins) }))
    },
    native: readAmount(typed.amount, units).native,
    request: {
      walletId,
      ...compact({ tokenId, coins: typed.coins.size === 0 ? undefined : [...typed.coins.keys()] }),
      publicAddress: typed.address.trim(),
      ...fee
    },
    refuse(failure) {
      const found =
        failure.code === 'FEE_INVALID' && typed.fee.level === 'custom'
          ? { field: 'fee' as const, text: `${failure.message}. Type another one.` }
          : spendRefusalOf(failure, [units, unitsOf(view, { walletId })])
      setRefusal(found)
      return found !== undefined
    },
    errorOf: field => (refusal?.field === field ? refusal.text : undefined)
  }
}

interface SpendForm {
  readonly typed: Typed
  readonly change: (changes: Partial<Typed>) => void
  /** Only as long as it is still this one that is paid in: an amount of one is another amount of another. */
  readonly changeOf: (token: string, changes: Partial<Typed>) => void
  readonly changeCoins: (update: (before: ChosenCoins) => ChosenCoins) => void
  readonly assets: ReturnType<typeof assetsOf>
  readonly units: AmountUnits
  readonly template: FeeTemplate
  /** False while a custom fee lacks a number. */
  readonly hasFee: boolean
  readonly native: string | undefined
  readonly request: SpendRequest
  readonly refuse: FailureHandler
  readonly errorOf: (field: SpendRefusal['field']) => string | undefined
}

interface Typed {
  readonly token: string
  readonly address: string
  readonly amount: string
  readonly fee: TypedFee
  readonly coins: ChosenCoins
}

const COIN = ''
const NO_COINS: ChosenCoins = new Map()
const EMPTY: Typed = { token: COIN, address: '', amount: '', fee: feeAt('standard'), coins: NO_COINS }

/** Lists the assets that a wallet can pay with: its coin, then the enabled tokens, each with its balance. */
const assetsOf = (
  view: View,
  walletId: WalletId
): readonly (readonly [tokenId: TokenId, label: string])[] => {
  const wallet = view.wallets.get(walletId)
  return wallet === undefined
    ? []
    : [COIN, ...wallet.enabledTokenIds].map(id => [id, assetLabel(view, wallet, id)])
}

const assetLabel = (view: View, { walletId, balances }: WalletSnapshot, id: string): string => {
  const units = unitsOf(view, { walletId, tokenId: id === COIN ? null : id })
  const name = units.denominations.length === 0 && id !== COIN ? id : units.displayName
  return `${name} · ${amountIn(balances[id] ?? '0', units)}`
}

/** The field that caused a failure, and the text to show there. */
interface SpendRefusal {
  readonly field: 'address' | 'amount' | 'coins' | 'fee'
  readonly text: string
}

/**
 * Finds the field that caused a failed payment; undefined for a failure that no field can mend (pure).
 *
 * @param assets - what is paid in, then the coin of the chain, which pays the fee
 */
export const spendRefusalOf = (
  failure: Omit<ActionFailure, 'code'> & { readonly code: string },
  assets: readonly AmountUnits[]
): SpendRefusal | undefined => {
  const { code, message, hint, details = {} } = failure
  const shown = (name: string): string | undefined => {
    const units = assets.find(({ currencyCode }) => currencyCode === details.currencyCode) ?? assets[0]
    const native = details[name]
    return typeof native === 'string' && units !== undefined ? amountIn(native, units) : undefined
  }
  if (code === 'OPTION_INVALID' && details.option === 'coins')
    return {
      field: 'coins',
      text: `${message}. List them again, and choose others.`
    }
  if (code === 'ADDRESS_INVALID' || code === 'SPEND_TO_SELF')
    return { field: 'address', text: hint === undefined ? message : `${message}. ${hint}` }
  if (code === 'INSUFFICIENT_FUNDS') {
    const [needed, available] = [shown('needed'), shown('available')]
    const why =
      needed === undefined || available === undefined ? '' : `: it needs ${needed}, and there is ${available}`
    return { field: 'amount', text: `${message}${why}. Send less, or press Max.` }
  }
  if (code === 'DUST_SPEND') {
    const least = shown('minimum')
    return { field: 'amount', text: `${message}${least === undefined ? '' : `, at least ${least}`}.` }
  }
  if (code === 'PENDING_FUNDS' && details.incoming !== undefined && details.incoming !== '0')
    return {
      field: 'amount',
      text: `${message}: ${shown('incoming')} is incoming. Send less, or wait until it is confirmed.`
    }
  if (code === 'AMOUNT_INVALID' || code === 'NO_AMOUNT_SPECIFIED' || code === 'PENDING_FUNDS')
    return { field: 'amount', text: hint === undefined ? message : `${message}. ${hint}` }
  return undefined
}

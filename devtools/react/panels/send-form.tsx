import { type ReactElement, useState } from 'react'
import {
  type AmountUnits,
  mainDenomination,
  nativeAmount,
  toDenomination,
  type WalletSnapshot
} from '../../../kernel/index.ts'
import type { SpendWish } from '../../core/actions.ts'
import { amountIn, readAmount, unitsOf } from '../../core/amount-in-units.ts'
import type { View } from '../../core/slices.ts'
import { type SpendRefusal, spendRefusalOf } from '../../core/spend-refusal.ts'
import { type TakesFailure, useView } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ActForm } from '../parts/act-form.tsx'
import { AmountField } from '../parts/amount-field.tsx'
import { ChoiceField, FeeField, type FeeLevel, TextField } from '../parts/fields.tsx'
import { Section } from '../parts/side.tsx'

/** Pays from a wallet, after a review: in its coin or one of its tokens, an amount or all there is. */
export const SendForm = ({ walletId }: { readonly walletId: string }): ReactElement => (
  <Section title="Send">
    <SendFields walletId={walletId} />
  </Section>
)

const SendFields = ({ walletId }: { readonly walletId: string }): ReactElement => {
  const { typed, change, changeOf, assets, units, native, wish, refuse, errorOf } = useSpendForm(walletId)
  return (
    <ActForm
      name="spend.draft"
      input={{ ...wish, nativeAmount: native ?? '0' }}
      label="Review…"
      isReady={wish.publicAddress !== '' && native !== undefined}
      onFailure={refuse}
    >
      {assets.length < 2 ? null : (
        <ChoiceField
          label="Pay in"
          value={wish.tokenId ?? COIN}
          choices={assets}
          onChange={token => change({ token, amount: '' })}
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
      <ActButton
        name="spend.max"
        input={wish}
        // What can be sent hangs on the fee, and the fee on who is paid.
        isDisabled={wish.publicAddress === ''}
        onFailure={refuse}
        onDone={({ nativeAmount: most }) =>
          changeOf(typed.token, {
            amount: toDenomination(nativeAmount(most), mainDenomination(units).multiplier)
          })
        }
      >
        Max
      </ActButton>
      <FeeField value={typed.fee} onChange={fee => change({ fee })} />
    </ActForm>
  )
}

/** What was typed, what it comes to, and which field the wallet refused last. */
const useSpendForm = (walletId: string): SpendForm => {
  const view = useView()
  const [typed, setTyped] = useState(EMPTY)
  const [refusal, setRefusal] = useState<SpendRefusal | undefined>()
  const assets = assetsOf(view, walletId)
  // A token that was switched off meanwhile is paid no more, and an amount of it is none of the coin.
  if (typed.token !== COIN && !assets.some(([id]) => id === typed.token))
    setTyped({ ...typed, token: COIN, amount: '' })
  const tokenId = typed.token === COIN ? undefined : typed.token
  const units = unitsOf(view, { walletId, tokenId })
  return {
    ...{ typed, assets, units },
    change(changes) {
      setRefusal(undefined)
      setTyped(before => ({ ...before, ...changes }))
    },
    changeOf(token, changes) {
      setRefusal(undefined)
      setTyped(before => (before.token === token ? { ...before, ...changes } : before))
    },
    native: readAmount(typed.amount, units).native,
    wish: {
      walletId,
      ...(tokenId === undefined ? {} : { tokenId }),
      publicAddress: typed.address.trim(),
      fee: typed.fee
    },
    refuse(failure) {
      const found = spendRefusalOf(failure, [units, unitsOf(view, { walletId })])
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
  readonly assets: ReturnType<typeof assetsOf>
  readonly units: AmountUnits
  readonly native: string | undefined
  readonly wish: SpendWish
  readonly refuse: TakesFailure
  readonly errorOf: (field: SpendRefusal['field']) => string | undefined
}

interface Typed {
  readonly token: string
  readonly address: string
  readonly amount: string
  readonly fee: FeeLevel
}

const COIN = ''
const EMPTY: Typed = { token: COIN, address: '', amount: '', fee: 'standard' }

/** What a wallet can pay in: its coin, then the tokens that are on, each with what there is of it. */
const assetsOf = (view: View, walletId: string): readonly (readonly [tokenId: string, label: string])[] => {
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

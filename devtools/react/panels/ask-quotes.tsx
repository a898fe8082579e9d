import { type ReactElement, useState } from 'react'
import { readAmount, unitsOf } from '../../core/amount-in-units.ts'
import { usePanel, useView } from '../panel-state.ts'
import { useCanDo } from '../parts/act-button.tsx'
import { ActForm } from '../parts/act-form.tsx'
import { AmountField } from '../parts/amount-field.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { walletName } from '../parts/wallet-parts.tsx'

type Direction = 'from' | 'max' | 'to'

const directions: readonly (readonly [Direction, string])[] = [
  ['from', 'send exactly'],
  ['to', 'receive exactly'],
  ['max', 'send all']
]

/** Asks for quotes from one wallet to another. */
export const AskQuotes = (): ReactElement | null => {
  const { go } = usePanel()
  const view = useView()
  const wallets = [...view.wallets.values()]
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [quoteFor, setQuoteFor] = useState<Direction>('from')
  const [amount, setAmount] = useState('')
  if (!useCanDo('swap.ask') || wallets.length < 2) return null
  const choices = wallets.map(
    wallet => [wallet.walletId, `${walletName(wallet)} · ${wallet.pluginId}`] as const
  )
  // A wallet that was chosen may have left with its account.
  const ids = choices.map(([id]) => id)
  const fromWalletId = ids.find(id => id === from) ?? ids[0] ?? ''
  const toWalletId = ids.find(id => id === to) ?? ids.find(id => id !== fromWalletId) ?? ''
  const units = unitsOf(view, { walletId: quoteFor === 'to' ? toWalletId : fromWalletId })
  const native = quoteFor === 'max' ? '0' : readAmount(amount, units).native
  return (
    <div className="tools">
      <ActForm
        name="swap.ask"
        input={{ fromWalletId, toWalletId, nativeAmount: native ?? '0', quoteFor }}
        label="Ask for quotes"
        isReady={fromWalletId !== toWalletId && native !== undefined}
        onDone={({ roundId }) => go({ id: roundId })}
      >
        <ChoiceField label="From" value={fromWalletId} onChange={setFrom} choices={choices} />
        <ChoiceField label="To" value={toWalletId} onChange={setTo} choices={choices} />
        <ChoiceField
          label="Amount is"
          value={quoteFor}
          choices={directions}
          onChange={value => setQuoteFor(directions.find(([known]) => known === value)?.[0] ?? 'from')}
        />
        {quoteFor === 'max' ? null : (
          <AmountField label="Amount" units={units} value={amount} onChange={setAmount} />
        )}
      </ActForm>
    </div>
  )
}

import { type ReactElement, useId, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { type NativeAmount, nativeAmount, sum, type WalletId } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import type { View } from '../../core/model/slices.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import { countText, shortId, visibleText } from '../parts/texts.ts'
import { useView } from '../state/panel-state.ts'

type CoinPage = Actions['coin.list']['out']

/** The chosen coins of a payment, each with its amount. */
export type ChosenCoins = ReadonlyMap<string, NativeAmount>

// A wallet may have ten thousand coins.
const PAGE = 20

/** Returns true of a wallet whose balance is made of single coins (pure). */
export const hasCoins = (view: View, walletId: WalletId): boolean =>
  Object.values(view.wallets.get(walletId)?.balanceDetails ?? {}).some(({ frozen }) => frozen !== undefined)

/** Lists coins, of which a payment takes those that are ticked and no others; without one the wallet chooses. */
export const CoinChoice = (props: {
  readonly walletId: WalletId
  readonly chosen: ChosenCoins
  /** Changes what is chosen by then: a list of coins may come later than a tick. */
  readonly onChange: (change: (chosen: ChosenCoins) => ChosenCoins) => void
  readonly error: string | undefined
}): ReactElement | null => {
  const { walletId, chosen, onChange, error } = props
  const view = useView()
  const units = unitsOf(view, { walletId })
  const errorId = useId()
  const [shown, setShown] = useState<(CoinPage & { readonly offset: number }) | undefined>()
  if (!hasCoins(view, walletId)) return null
  const { coins = [], total = 0, offset = 0 } = shown ?? {}
  const show = (at: number) => (page: CoinPage) => {
    setShown({ ...page, offset: at })
    const states = new Map(page.coins.map(({ coin, state }) => [coin, state]))
    const isWhole = page.coins.length === page.total
    const isLeft = (coin: string): boolean => (states.has(coin) ? states.get(coin) === 'spendable' : !isWhole)
    onChange(before => new Map([...before].filter(([coin]) => isLeft(coin))))
  }
  const turn = (at: number, words: string): ReactElement => (
    <ActionButton name="coin.list" input={{ walletId, limit: PAGE, offset: at }} onDone={show(at)}>
      {words}
    </ActionButton>
  )
  const tick = (coin: string, native: string): void =>
    onChange(before => {
      const changed = new Map(before)
      if (!changed.delete(coin)) changed.set(coin, nativeAmount(native))
      return changed
    })
  return (
    <fieldset className="field wide bare" aria-describedby={error === undefined ? undefined : errorId}>
      <legend>Pay with</legend>
      <p className="soft" aria-live="polite">
        {chosen.size === 0 ? (
          'The wallet chooses the coins.'
        ) : (
          <>
            {chosen.size === 1 ? 'One coin' : `${countText(String(chosen.size))} coins`}, and no others:{' '}
            <Amount native={sum([...chosen.values()])} units={units} isFull />
          </>
        )}
      </p>
      {shown === undefined ? null : (
        <ul className="open-payments" aria-label="Payable">
          {coins.map(({ coin, nativeAmount: native, state, untrusted: { label = '' } }) => (
            <li key={coin}>
              <label className="acts">
                <input
                  type="checkbox"
                  checked={chosen.has(coin)}
                  disabled={state !== 'spendable'}
                  onChange={() => tick(coin, native)}
                />
                <Amount native={native} units={units} isFull />
                {state === 'spendable' ? null : <span className="soft">{state}</span>}
              </label>
              <div className="soft" title={coin}>
                <span className="mono">{visibleText(shortId(coin, 25))}</span>
                {label === '' ? null : ` · ${visibleText(label)}`}
              </div>
            </li>
          ))}
        </ul>
      )}
      <div className="acts">
        {turn(0, shown === undefined ? 'Choose coins…' : 'List them again')}
        {offset === 0 ? null : turn(Math.max(0, offset - PAGE), 'Newer ones')}
        {offset + coins.length >= total ? null : turn(offset + PAGE, 'Older ones')}
        {chosen.size === 0 ? null : (
          <button type="button" className="button plain" onClick={() => onChange(() => new Map())}>
            Let the wallet choose
          </button>
        )}
      </div>
      <p id={errorId} className="field-error" aria-live="polite">
        {error}
      </p>
    </fieldset>
  )
}

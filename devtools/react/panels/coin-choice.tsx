import { type ReactElement, useCallback, useEffect, useId, useRef, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { type NativeAmount, nativeAmount, sum, type WalletId } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import type { View } from '../../core/model/slices.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import { countText, shortId, visibleText } from '../parts/texts.ts'
import { useCanRunActions, usePanel, useView } from '../state/panel-state.ts'

type CoinPage = Actions['coin.list']['out']

/** The chosen coins of a payment, each with its amount. */
export type ChosenCoins = ReadonlyMap<string, NativeAmount>

// A wallet may have ten thousand coins.
const PAGE = 20

/** Returns true of a wallet whose balance is made of single coins (pure). */
export const hasCoins = (view: View, walletId: WalletId): boolean =>
  Object.values(view.wallets.get(walletId)?.balanceDetails ?? {}).some(({ frozen }) => frozen !== undefined)

interface CoinChoiceProps {
  readonly walletId: WalletId
  readonly chosen: ChosenCoins
  /** Changes what is chosen by then: a list of coins may come later than a tick. */
  readonly onChange: (change: (chosen: ChosenCoins) => ChosenCoins) => void
  readonly error: string | undefined
}

/** Lists coins, of which a payment takes those that are ticked and no others; without one the wallet chooses. */
export const CoinChoice = (props: CoinChoiceProps): ReactElement | null => {
  const { walletId, chosen, onChange, error } = props
  const view = useView()
  const units = unitsOf(view, { walletId })
  const errorId = useId()
  const { shown, show } = useCoinPage(props)
  if (!hasCoins(view, walletId)) return null
  const { coins = [], total = 0, offset = 0 } = shown ?? {}
  const turn = (at: number, words: string): ReactElement => (
    <ActionButton
      name="coin.list"
      input={{ walletId, limit: PAGE, offset: at }}
      onDone={page => show({ ...page, offset: at })}
    >
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
                {state === 'spendable' ? null : <span className="soft">· {state}</span>}
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

interface ShownPage extends CoinPage {
  readonly offset: number
}

/**
 * The page of coins that is shown. It is read again whenever the wallet's balance or its open payments change, and so are the chosen
 * coins of other pages: what was spent, frozen or reserved meanwhile is chosen no longer.
 */
const useCoinPage = ({ walletId, chosen, onChange }: CoinChoiceProps) => {
  const { client } = usePanel()
  const canRun = useCanRunActions()
  const [shown, setShown] = useState<ShownPage | undefined>()
  const now = useRef({ chosen, onChange, shown, walletId })
  useEffect(() => {
    now.current = { chosen, onChange, shown, walletId }
  })
  const show = useCallback(
    async (page: ShownPage): Promise<void> => {
      setShown(page)
      const { chosen: before, walletId: of } = now.current
      const listed = page.coins.map(({ coin }) => coin)
      const others = [...before.keys()].filter(coin => !listed.includes(coin)).slice(0, MOST_CHOSEN)
      const input = { walletId: of, coins: others, limit: others.length }
      const isWhole = others.length === 0 || page.coins.length === page.total
      const found = isWhole
        ? []
        : await client.runAction('coin.list', input).then(
            ({ coins }) => coins,
            () => undefined
          )
      const left = new Set(
        [...page.coins, ...(found ?? [])].filter(({ state }) => state === 'spendable').map(({ coin }) => coin)
      )
      // Of what could not be read nothing is known.
      const read = new Set([...listed, ...(found === undefined ? [] : others)])
      now.current.onChange(
        chosenNow => new Map([...chosenNow].filter(([coin]) => left.has(coin) || !read.has(coin)))
      )
    },
    [client]
  )
  const { balanceDetails, openPayments = [] } = useView().wallets.get(walletId) ?? {}
  const changes = JSON.stringify([balanceDetails, openPayments.map(({ txid, state }) => [txid, state])])
  const seen = useRef(changes)
  const isShown = shown !== undefined
  useEffect(() => {
    const { offset } = now.current.shown ?? {}
    if (!canRun || !isShown || offset === undefined || seen.current === changes) return
    seen.current = changes
    client.runAction('coin.list', { walletId, limit: PAGE, offset }).then(
      page => (now.current.shown?.offset === offset ? show({ ...page, offset }) : undefined),
      // The list of before stays, and the wallet refuses what it has no more.
      () => {}
    )
  }, [canRun, changes, client, isShown, show, walletId])
  return { shown, show }
}

// As many as a payment takes.
const MOST_CHOSEN = 1000

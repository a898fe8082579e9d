import { type ReactElement, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import type { WalletId } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import type { EngineRow } from '../../core/rows/engine-rows.ts'
import { ActionButton, ActionForm } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import { Section } from '../parts/details.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/fields.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { countText, shortId, visibleText } from '../parts/texts.ts'
import { useCanRunActions, usePanel, useView } from '../state/panel-state.ts'
import { hasCoins } from './coin-choice.tsx'
import { RaiseFee } from './raise-fee.tsx'

type CoinPage = Actions['coin.list']['out']
type Coin = CoinPage['coins'][number]

// A wallet may have ten thousand coins.
const PAGE = 20

/** The single coins of a wallet that has some, a page at a time; nothing is requested before a person wants to see them. */
export const CoinList = ({
  row: { walletId, blockHeight }
}: {
  readonly row: EngineRow
}): ReactElement | null => {
  const { run } = usePanel()
  const isShown = hasCoins(useView(), walletId)
  const [shown, setShown] = useState<(CoinPage & { readonly offset: number }) | undefined>()
  if (!isShown) return null
  const { coins = [], total = 0, offset = 0 } = shown ?? {}
  const show = (at: number) => (page: CoinPage) => setShown({ ...page, offset: at })
  const again = async (): Promise<void> => {
    const page = await run('coin.list', { walletId, limit: PAGE, offset })
    if (page !== undefined) show(offset)(page)
  }
  const turn = (at: number, words: string): ReactElement => (
    <ActionButton name="coin.list" input={{ walletId, limit: PAGE, offset: at }} onDone={show(at)}>
      {words}
    </ActionButton>
  )
  return (
    <Section title="Coins">
      {shown === undefined ? null : (
        <p className="soft" aria-live="polite">
          {total === 0
            ? 'The wallet has no coins.'
            : `${countText(String(offset + 1))} to ${countText(String(offset + coins.length))} of ${countText(String(total))}, the newest first`}
        </p>
      )}
      <ul className="open-payments" aria-label="Coins">
        {coins.map(coin => (
          <CoinItem key={coin.coin} {...{ walletId, coin, height: blockHeight, onChanged: again }} />
        ))}
      </ul>
      <div className="acts">
        {turn(0, shown === undefined ? 'Show coins' : 'Show the newest coins')}
        {offset === 0 ? null : turn(Math.max(0, offset - PAGE), 'Newer coins')}
        {offset + coins.length >= total ? null : turn(offset + PAGE, 'Older coins')}
      </div>
    </Section>
  )
}

const CoinItem = (props: {
  readonly walletId: WalletId
  readonly coin: Coin
  readonly height: number
  readonly onChanged: () => Promise<void>
}): ReactElement => {
  const { walletId, height, onChanged } = props
  const { coin, nativeAmount, state, isFrozen, publicAddress, blockHeight, untrusted } = props.coin
  const view = useView()
  const units = unitsOf(view, { walletId })
  const { label = '' } = untrusted
  const canRun = useCanRunActions()
  const [isRaising, setRaising] = useState(false)
  const txid = coin.slice(0, coin.lastIndexOf(':'))
  const isOwn = view.wallets.get(walletId)?.openPayments.some(payment => payment.txid === txid) === true
  const [typed, setTyped] = useState<string | undefined>()
  const depth = blockHeight === 0 ? 0 : Math.max(1, height - blockHeight + 1)
  return (
    <li>
      <div>
        <Amount native={nativeAmount} units={units} isFull />
      </div>
      <StateMark tone={tones[state]}>{isFrozen && state !== 'frozen' ? `${state}, frozen` : state}</StateMark>
      <div className="soft">
        {depth === 0
          ? 'unconfirmed'
          : `${countText(String(depth))} ${depth === 1 ? 'confirmation' : 'confirmations'}`}
        {label === '' ? null : ` · ${visibleText(label)}`}
      </div>
      <div className="mono">{visibleText(publicAddress)}</div>
      <div className="mono soft" title={coin}>
        {visibleText(shortId(coin, 25))}
      </div>
      <div className="acts">
        <ActionButton name="coin.change" input={{ walletId, coin, isFrozen: !isFrozen }} onDone={onChanged}>
          {isFrozen ? 'Unfreeze' : 'Freeze'}
        </ActionButton>
        {canRun && blockHeight === 0 && state !== 'reserved' && !isFrozen ? (
          <button type="button" className="button" onClick={() => setRaising(true)}>
            Raise the fee…
          </button>
        ) : null}
        <button
          type="button"
          className="button plain"
          aria-expanded={typed !== undefined}
          onClick={() => setTyped(typed === undefined ? label : undefined)}
        >
          Label…
        </button>
      </div>
      {typed === undefined ? null : (
        <ActionForm
          name="coin.change"
          input={{ walletId, coin, label: typed.trim() }}
          label="Note the label"
          isReady
          onDone={async () => {
            setTyped(undefined)
            await onChanged()
          }}
        >
          <TextField label="Coin label" isWide value={typed} onChange={setTyped} />
        </ActionForm>
      )}
      {isRaising ? (
        <Dialog title="Raise the fee of this payment" onClose={() => setRaising(false)}>
          <RaiseFee {...{ walletId, txid }} isOwn={isOwn} onClose={() => setRaising(false)} />
        </Dialog>
      ) : null}
    </li>
  )
}

const tones: Readonly<Record<Coin['state'], Tone>> = {
  spendable: 'good',
  incoming: 'busy',
  immature: 'busy',
  reserved: 'warn',
  frozen: 'idle'
}

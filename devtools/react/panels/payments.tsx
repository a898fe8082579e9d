import type { ReactElement } from 'react'
import type { SpendProgressSnapshot } from '../../../kernel/index.ts'
import { usePanel, useView } from '../panel-state.ts'
import { everythingAbout } from '../parts/everything.tsx'
import { Section } from '../parts/side.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { shortId } from '../texts.ts'

/** The payments of a wallet since the kernel started, the newest first; each leads to all that was done for it. */
export const Payments = ({ walletId }: { readonly walletId: string }): ReactElement | null => {
  const view = useView()
  const { go } = usePanel()
  const spends = [...view.spends.values()].filter(spend => spend.walletId === walletId).reverse()
  if (spends.length === 0) return null
  return (
    <Section title="Payments">
      <ul className="events">
        {spends.slice(0, MOST).map(({ correlationId, txid, stage }) => (
          <li key={correlationId}>
            <StateMark tone={tones[stage]}>{stage}</StateMark>
            <button
              type="button"
              className="link mono"
              title={txid ?? correlationId}
              onClick={() => go(everythingAbout(view, correlationId))}
            >
              <span className="hidden-text">Show everything for </span>
              {shortId(txid ?? correlationId, 25)}
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}

// The palette and the filter of Hooks find the others.
const MOST = 8

const tones: Readonly<Record<SpendProgressSnapshot['stage'], Tone>> = {
  intended: 'busy',
  signed: 'busy',
  broadcast: 'busy',
  saved: 'good',
  refused: 'bad'
}

import type { ReactElement } from 'react'
import type { EngineSnapshot, WalletSnapshot } from '../../../kernel/index.ts'
import { percentText, shortId } from '../texts.ts'
import { StateMark, type Tone } from './state-mark.tsx'

/** What a wallet is called: its name, or the short form of its id. */
export const walletName = ({ name, walletId }: WalletSnapshot): string =>
  name === null || name === '' ? shortId(walletId) : name

/** Where an engine stands in its life. */
export const EngineState = ({ engine }: { readonly engine: EngineSnapshot | undefined }): ReactElement => {
  if (engine === undefined) return <StateMark tone="idle">no engine</StateMark>
  if (engine.state === 'failed') return <StateMark tone="bad">failed</StateMark>
  if (engine.isPaused) return <StateMark tone="idle">paused</StateMark>
  const tone: Tone =
    engine.state === 'stopped'
      ? 'idle'
      : engine.failure !== undefined
        ? 'warn'
        : engine.state === 'created' || engine.syncRatio < 1
          ? 'busy'
          : 'good'
  return (
    <StateMark tone={tone}>
      {engine.failure !== undefined && tone === 'warn' ? 'retrying' : engine.state}
    </StateMark>
  )
}

/** How much an engine has seen of its chain. */
export const SyncBar = ({ ratio }: { readonly ratio: number }): ReactElement => (
  <span>
    <span className="bar" aria-hidden="true">
      <span style={{ inlineSize: `${Math.round(ratio * 100)}%` }} />
    </span>
    {percentText(ratio)}
  </span>
)

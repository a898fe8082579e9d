import type { ReactElement } from 'react'
import type { HookRow } from '../../core/rows/hook-rows.ts'
import { usePanel } from '../panel-state.ts'
import { durationText } from '../texts.ts'

/** Every call of one action below each other, each where its time lies between the first and the last. */
export const ActionTimeline = ({ rows }: { readonly rows: readonly HookRow[] }): ReactElement => {
  const { go, location } = usePanel()
  // A tap is told when it ends, and stands where it began.
  const shown = [...rows].sort((one, other) => one.at - other.at).slice(-MOST)
  const start = Math.min(...shown.map(({ at }) => at))
  const span = Math.max(1, ...shown.map(({ at, durationMs = 0 }) => at + durationMs - start))
  return (
    <ol className="timeline">
      {shown.map(row => (
        <li key={row.seq} aria-current={String(row.seq) === location.id ? 'true' : undefined}>
          <button type="button" className="row-open" onClick={() => go({ ...location, id: String(row.seq) })}>
            {row.hook} <span className="soft">{row.pluginId ?? row.outcome}</span>
          </button>
          <span className="track" aria-hidden="true">
            <span
              className={row.outcome === 'failed' ? 'bad' : undefined}
              style={{
                insetInlineStart: percent((row.at - start) / span),
                inlineSize: percent((row.durationMs ?? 0) / span)
              }}
            />
          </span>
          <span className="soft">+{durationText(row.at - start)}</span>
        </li>
      ))}
    </ol>
  )
}

// As many as can be read beside a list; the filter of Hooks shows them all.
const MOST = 40

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`

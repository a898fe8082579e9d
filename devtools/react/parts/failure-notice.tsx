import type { ReactElement } from 'react'
import { usePanel } from '../panel-state.ts'

/** Why the last action failed, until it is dismissed or something else is done. */
export const FailureNotice = (): ReactElement | null => {
  const { failure, dismiss } = usePanel()
  if (failure === undefined) return null
  return (
    <div className="notice" role="alert">
      <code className="bad">{failure.code}</code>
      <span>
        {failure.message} {failure.hint === undefined ? null : <span className="soft">{failure.hint}</span>}
      </span>
      <button type="button" className="button plain" onClick={dismiss}>
        Dismiss
      </button>
    </div>
  )
}

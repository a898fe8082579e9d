import type { ReactElement } from 'react'
import { usePanel, useStatus } from './panel-state.ts'
import { FailureNotice } from './parts/failure-notice.tsx'

/** What went wrong, and the command of the control under the hand. */
export const PanelFoot = (props: {
  readonly commandLine: string
  readonly onCopy: (text: string) => void
  readonly onPalette: () => void
  readonly said: string
}): ReactElement => {
  const { commandLine } = props
  const { connection, message } = useStatus()
  const { hasDialog } = usePanel()
  return (
    <>
      {connection === 'lost' ? (
        <div className="notice" role="alert">
          <strong className="bad">Lost</strong>
          <span>{message ?? 'The kernel no longer answers. What is shown is what was known last.'}</span>
        </div>
      ) : null}
      {/* Told once: an open dialog tells it where the person is. */}
      {hasDialog ? null : <FailureNotice />}
      <footer className="foot">
        <button type="button" className="link" onClick={props.onPalette}>
          Go or do <kbd>Ctrl K</kbd>
        </button>
        {commandLine === '' ? (
          <span>
            <kbd>?</kbd> keys <kbd>/</kbd> filter
          </span>
        ) : (
          <>
            <code>
              <b aria-hidden="true">$ </b>
              {commandLine}
            </code>
            <button type="button" className="button plain" onClick={() => props.onCopy(commandLine)}>
              Copy
            </button>
          </>
        )}
        <span role="status">{props.said}</span>
      </footer>
    </>
  )
}

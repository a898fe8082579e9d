import type { ReactElement } from 'react'
import { type Failure, useStatus } from './panel-state.ts'

/** What went wrong, and the command of the control under the hand. */
export const PanelFoot = (props: {
  readonly failure: Failure | undefined
  readonly onDismiss: () => void
  readonly commandLine: string
  readonly onCopy: (text: string) => void
  readonly said: string
}): ReactElement => {
  const { failure, commandLine } = props
  const { connection, message } = useStatus()
  return (
    <>
      {connection === 'lost' ? (
        <div className="notice" role="alert">
          <strong className="bad">Lost</strong>
          <span>{message ?? 'The kernel no longer answers. What is shown is what was known last.'}</span>
        </div>
      ) : null}
      {failure === undefined ? null : (
        <div className="notice" role="alert">
          <code className="bad">{failure.code}</code>
          <span>
            {failure.message}{' '}
            {failure.hint === undefined ? null : <span className="soft">{failure.hint}</span>}
          </span>
          <button type="button" className="button plain" onClick={props.onDismiss}>
            Dismiss
          </button>
        </div>
      )}
      <footer className="foot">
        {commandLine === '' ? (
          <span>
            <kbd>?</kbd> keys · <kbd>/</kbd> filter
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

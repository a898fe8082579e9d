import { type ReactElement, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { usePanel } from '../state/panel-state.ts'

/** Chromium gives the focus back to a field, but not the caret: what is typed then is lost. */
const putCaret = (closed: HTMLDialogElement | null): void => {
  const root = closed?.getRootNode()
  const field = root instanceof ShadowRoot ? root.activeElement : null
  if (field instanceof HTMLInputElement && field.selectionStart !== null)
    field.setSelectionRange(field.selectionStart, field.selectionEnd)
}

/** A window before all else. Esc closes it, and the focus goes back to where it was. */
export const Dialog = (props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}): ReactElement => {
  const dialog = useRef<HTMLDialogElement>(null)
  const { dismiss, enterDialog } = usePanel()
  // What failed before is not about what is done here.
  useEffect(dismiss, [dismiss])
  useLayoutEffect(enterDialog, [enterDialog])
  // Closed before it leaves the page: only then does the browser give the focus back.
  useLayoutEffect(() => {
    const shown = dialog.current
    if (shown?.open === false) shown.showModal()
    return () => {
      shown?.close()
      putCaret(shown)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={props.title}
      onKeyDown={event => {
        if (event.key !== 'Escape' || event.nativeEvent.isComposing) return
        // Left to itself, the browser closes what does not want to be closed at the second Escape.
        event.preventDefault()
        props.onClose()
      }}
      onCancel={event => {
        event.preventDefault()
        props.onClose()
      }}
    >
      <div className="stack">
        <h2>{props.title}</h2>
        {props.children}
        <FailureNotice />
      </div>
    </dialog>
  )
}

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

import { Component, type ReactElement, type ReactNode } from 'react'
import { clientNumber, usePanel } from '../state/panel-state.ts'

/** Properties of an {@link ErrorBoundary}. */
export interface ErrorBoundaryProps {
  /** When it becomes another one, what broke is tried anew. */
  readonly place: string
  /** Stands for what broke; `retry` tries it anew. */
  readonly instead: (reason: string, retry: () => void) => ReactNode
  readonly children: ReactNode
}

interface Broken {
  readonly reason: string | undefined
}

/** Keeps what breaks while it is drawn, as rows of a forged recording may, from taking the rest of the panel along. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, Broken> {
  override state: Broken = { reason: undefined }

  static getDerivedStateFromError(error: unknown): Broken {
    return { reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 300) : 'unknown' }
  }

  override componentDidUpdate(before: ErrorBoundaryProps): void {
    if (before.place !== this.props.place && this.state.reason !== undefined)
      this.setState({ reason: undefined })
  }

  override render(): ReactNode {
    const { reason } = this.state
    if (reason === undefined) return this.props.children
    return this.props.instead(reason, () => this.setState({ reason: undefined }))
  }
}

/** Says what could not be drawn, and why. */
export const BrokenNotice = (props: {
  /** Begins the sentence, such as `The panel Engines`. */
  readonly what: string
  readonly reason: string
  /** The ways on, as buttons. */
  readonly children: ReactNode
}): ReactElement => (
  <div className="notice" role="alert">
    <strong className="bad">Broken</strong>
    <span>
      {props.what} could not be drawn: a plugin or a recording sent something that makes no sense, or the
      devtools are wrong. All else goes on. <code>{props.reason}</code>
    </span>
    {props.children}
  </div>
)

/** A part of the panel whose failure leaves the others as they are. */
export const SafePart = (props: {
  /** Begins the sentence that says it is broken, such as `The palette`. */
  readonly what: string
  /** Takes it away; without it, it can be tried again. */
  readonly onClose?: () => void
  readonly children: ReactNode
}): ReactElement => {
  const { live, location } = usePanel()
  return (
    <ErrorBoundary
      place={`${clientNumber(live)} ${location.panel}`}
      instead={(reason, retry) => (
        <BrokenNotice what={props.what} reason={reason}>
          <button type="button" className="button" onClick={props.onClose ?? retry}>
            {props.onClose === undefined ? 'Try again' : 'Close'}
          </button>
        </BrokenNotice>
      )}
    >
      {props.children}
    </ErrorBoundary>
  )
}

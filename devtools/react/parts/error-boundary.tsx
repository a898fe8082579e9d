import { Component, type ReactElement, type ReactNode } from 'react'

/** What an {@link ErrorBoundary} keeps together. */
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
      {props.what} could not be drawn: a plugin or a recording told what makes no sense, or the devtools are
      wrong. All else goes on. <code>{props.reason}</code>
    </span>
    {props.children}
  </div>
)

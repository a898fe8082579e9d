import type { ReactElement, ReactNode } from 'react'
import type { Action, ActionName, Actions } from '../../core/actions.ts'
import { type TakesFailure, usePanel } from '../panel-state.ts'
import { useOneAtATime } from '../use-one-at-a-time.ts'
import { useCanDo } from './act-button.tsx'
import { CommandLine, useCommandLine } from './command-line.tsx'

/** Fields and a button that does one action with them; the command that does the same stands below. */
export const ActForm = <K extends ActionName>(props: {
  readonly name: K
  readonly input: Actions[K]['in']
  readonly label: string
  readonly isReady: boolean
  /** The button stays busy until what it gives is over. */
  readonly onDone?: (output: Actions[K]['out'], isHere: () => boolean) => Promise<void> | void
  readonly onFailure?: TakesFailure
  readonly children?: ReactNode
}): ReactElement | null => {
  const { name, input, label, isReady, onDone, onFailure } = props
  const { run } = usePanel()
  const [isBusy, start] = useOneAtATime()
  const canAct = useCanDo(name)
  const commandLine = useCommandLine({ name, input } as Action)
  if (!canAct) return null
  const act = async (isHere: () => boolean): Promise<void> => {
    const output = await run(name, input, failure => isHere() && onFailure?.(failure) === true)
    // Who has gone elsewhere meanwhile is not led back.
    if (output !== undefined && isHere()) await onDone?.(output, isHere)
  }
  return (
    <form
      className="section"
      onSubmit={event => {
        event.preventDefault()
        if (isReady) start(act)
      }}
    >
      <div className="fields">
        {props.children}
        <button
          type="submit"
          className="button main-act"
          disabled={!isReady}
          aria-busy={isBusy}
          data-command={commandLine}
        >
          {label}
        </button>
      </div>
      {isReady ? (
        <CommandLine text={commandLine} />
      ) : (
        // Keeps the place, so that what stands below does not jump.
        <p className="command waiting">The command stands here once the fields are filled in.</p>
      )}
    </form>
  )
}

import type { ReactElement, ReactNode } from 'react'
import { type Action, type ActionName, type Actions, readingActions } from '../../core/actions.ts'
import { type TakesFailure, usePanel, useStatus } from '../panel-state.ts'
import { useOneAtATime } from '../use-one-at-a-time.ts'
import { useCommandLine } from './command-line.tsx'

/** A button that does one action. Nothing is drawn where it could not be done. */
export const ActButton = <K extends ActionName>(props: {
  readonly name: K
  readonly input: Actions[K]['in']
  readonly isMain?: boolean
  readonly isDisabled?: boolean
  /** The button stays busy until what it gives is over. */
  readonly onDone?: (output: Actions[K]['out']) => Promise<void> | void
  readonly onFailure?: TakesFailure
  readonly children: ReactNode
}): ReactElement | null => {
  const { name, input, onDone, onFailure, isMain = false, isDisabled = false } = props
  const { run, showCommand } = usePanel()
  const [isBusy, start] = useOneAtATime()
  const canAct = useCanDo(name)
  const commandLine = useCommandLine({ name, input } as Action)
  if (!canAct) return null
  const act = async (isHere: () => boolean): Promise<void> => {
    const output = await run(name, input, failure => isHere() && onFailure?.(failure) === true)
    // Who has gone elsewhere meanwhile is not led back.
    if (output !== undefined && isHere()) await onDone?.(output)
  }
  return (
    <button
      type="button"
      className={isMain ? 'button main-act' : 'button'}
      disabled={isDisabled}
      aria-busy={isBusy}
      data-command={commandLine}
      onFocus={() => showCommand(commandLine)}
      onPointerEnter={() => showCommand(commandLine)}
      onClick={() => start(act)}
    >
      {props.children}
    </button>
  )
}

/** Whether an action may be done now: the panel is live, and not read-only unless it changes nothing. */
export const useCanDo = (name: ActionName): boolean => {
  const { connection, isReadOnly, hasWorld } = useStatus()
  if (connection !== 'live') return false
  if (name.startsWith('world.') && !hasWorld) return false
  return !isReadOnly || readingActions.has(name)
}

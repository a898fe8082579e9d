import { type ReactElement, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import {
  type Action,
  type ActionName,
  type Actions,
  commandLineOf,
  readingActions
} from '../../../app/actions/actions.ts'
import { commandNamesOf } from '../../core/model/command-names.ts'
import { type FailureHandler, usePanel, useStatus, useView } from '../state/panel-state.ts'

/** Fields and a button that does one action with them; the command that does the same stands below. */
export const ActionForm = <K extends ActionName>(props: {
  readonly name: K
  readonly input: Actions[K]['in']
  readonly label: string
  readonly isReady: boolean
  /** Adds what no state may hold, such as a private key, when the action starts. */
  readonly complete?: (input: Actions[K]['in']) => Actions[K]['in']
  /** The button stays busy until what it gives is over. */
  readonly onDone?: (output: Actions[K]['out'], isHere: () => boolean) => Promise<void> | void
  readonly onFailure?: FailureHandler
  readonly children?: ReactNode
}): ReactElement | null => {
  const { name, input, label, isReady, complete, onDone, onFailure } = props
  const { run } = usePanel()
  const [isBusy, start] = useSingleTask()
  const canRun = useCanRun(name)
  const commandLine = useCommandLine({ name, input } as Action)
  if (!canRun) return null
  const runAction = async (isHere: () => boolean): Promise<void> => {
    const whole = complete === undefined ? input : complete(input)
    const output = await run(name, whole, failure => isHere() && onFailure?.(failure) === true)
    // Who has gone elsewhere meanwhile is not led back.
    if (output !== undefined && isHere()) await onDone?.(output, isHere)
  }
  return (
    <form
      className="section"
      onSubmit={event => {
        event.preventDefault()
        if (isReady) start(runAction)
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
        <p className="command waiting">Fill in the fields to see the command.</p>
      )}
    </form>
  )
}

/** A button that does one action. Nothing is drawn where it could not be done. */
export const ActionButton = <K extends ActionName>(props: {
  readonly name: K
  readonly input: Actions[K]['in']
  readonly isMain?: boolean
  readonly isDisabled?: boolean
  /** The button stays busy until what it gives is over. */
  readonly onDone?: (output: Actions[K]['out']) => Promise<void> | void
  readonly onFailure?: FailureHandler
  readonly children: ReactNode
}): ReactElement | null => {
  const { name, input, onDone, onFailure, isMain = false, isDisabled = false } = props
  const { run, showCommand } = usePanel()
  const [isBusy, start] = useSingleTask()
  const canRun = useCanRun(name)
  const commandLine = useCommandLine({ name, input } as Action)
  if (!canRun) return null
  const runAction = async (isHere: () => boolean): Promise<void> => {
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
      onClick={() => start(runAction)}
    >
      {props.children}
    </button>
  )
}

/** Returns true if an action is allowed now: the panel is live, and not read-only unless the action changes nothing. */
export const useCanRun = (name: ActionName): boolean => {
  const { connection, isReadOnly, hasWorld } = useStatus()
  if (connection !== 'live') return false
  if (name.startsWith('world.') && !hasWorld) return false
  return !isReadOnly || readingActions.has(name)
}

/** A command to copy. */
export const CommandLine = ({ text }: { readonly text: string }): ReactElement | null => {
  const { copy } = usePanel()
  if (text === '') return null
  return (
    <div className="command">
      <code>
        <b aria-hidden="true">$ </b>
        {text}
      </code>
      <button type="button" className="button plain" aria-label="Copy the command" onClick={() => copy(text)}>
        Copy
      </button>
    </div>
  )
}

/** The command that does what an action does; empty if there is none. */
export const useCommandLine = (action: Action): string => {
  const view = useView()
  const { memory } = usePanel()
  const { profile } = useStatus()
  const text = commandLineOf(action, commandNamesOf(view, memory)) ?? ''
  return text === '' || profile === undefined ? text : `${text} --profile ${profile}`
}

/** Starts a task. `isHere` returns, after a wait, whether its control is still in the page. */
export type StartTask = (task: (isHere: () => boolean) => Promise<void>) => void

/**
 * Does one thing at a time: what is started while something goes on is not done at all.
 *
 * A control that is busy is not disabled, since it would lose the focus; so this is what ignores a second press,
 * even in the same turn as the first.
 */
export const useSingleTask = (): readonly [isBusy: boolean, start: StartTask] => {
  const [isBusy, setBusy] = useState(false)
  const isGoingOn = useRef(false)
  const isInPage = useRef(true)
  useEffect(() => {
    isInPage.current = true
    return () => {
      isInPage.current = false
    }
  }, [])
  const start = useCallback<StartTask>(task => {
    if (isGoingOn.current) return
    isGoingOn.current = true
    setBusy(true)
    void task(() => isInPage.current).finally(() => {
      isGoingOn.current = false
      setBusy(false)
    })
  }, [])
  return [isBusy, start]
}

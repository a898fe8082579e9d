import type { ReactElement } from 'react'
import { actionNamesOf } from '../../core/action-names.ts'
import type { Action } from '../../core/actions.ts'
import { commandLineOf } from '../../core/command-line-of.ts'
import { usePanel, useView } from '../panel-state.ts'

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
  return commandLineOf(action, actionNamesOf(view, memory)) ?? ''
}

import type { ReactElement } from 'react'
import type { Action } from '../../core/actions.ts'
import { usePanel } from '../panel-state.ts'

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

/** The command that does what an action does. */
export const useCommandLine = (_action: Action): string => ''

import { useCallback, useState } from 'react'
import type { Act } from '../core/actions.ts'
import type { DevtoolsClient } from '../core/devtools-client.ts'
import { page } from './dom.ts'
import type { Failure, PanelState } from './panel-state.ts'

/** What the panel can do and say. */
export interface PanelActs extends Pick<PanelState, 'copy' | 'run'> {
  readonly failure: Failure | undefined
  readonly dismiss: () => void
  /** The newest short message, such as `Copied`. */
  readonly said: string
}

/** Does actions and keeps the newest failure. */
export const usePanelActs = (client: DevtoolsClient): PanelActs => {
  const [failure, setFailure] = useState<Failure | undefined>()
  const [said, say] = useState('')
  const run: PanelState['run'] = useCallback(
    async (name, input) => {
      setFailure(undefined)
      say('')
      try {
        const act: Act = client.act
        return await act(name, input)
      } catch (error) {
        setFailure(failureOf(error))
        return undefined
      }
    },
    [client]
  )
  const copy = useCallback((text: string) => {
    if (text === '' || page === undefined) return
    page.navigator.clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('The browser did not let the panel copy')
    )
  }, [])
  return { run, copy, failure, said, dismiss: () => setFailure(undefined) }
}

/** What an error says to a person. */
export const failureOf = (error: unknown): Failure => {
  const { code, message, hint } = (typeof error === 'object' && error !== null ? error : {}) as Partial<
    Record<keyof Failure, unknown>
  >
  return {
    code: typeof code === 'string' ? code : 'UNKNOWN',
    message: typeof message === 'string' ? message : 'It failed without saying why.',
    ...(typeof hint === 'string' ? { hint } : {})
  }
}

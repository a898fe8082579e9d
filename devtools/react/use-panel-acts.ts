import { useCallback, useState } from 'react'
import type { ActMemory } from '../core/action-names.ts'
import type { Act, Action } from '../core/actions.ts'
import type { DevtoolsClient } from '../core/devtools-client.ts'
import { page } from './dom.ts'
import type { Failure, PanelState } from './panel-state.ts'

/** What the panel can do and say. */
export interface PanelActs extends Pick<PanelState, 'copy' | 'dismiss' | 'failure' | 'memory' | 'run'> {
  /** The newest short message, such as `Copied`. */
  readonly said: string
}

/** Does actions and keeps the newest failure. */
export const usePanelActs = (client: DevtoolsClient): PanelActs => {
  const [failure, setFailure] = useState<Failure | undefined>()
  const [said, say] = useState('')
  const [memory, setMemory] = useState<ActMemory>(NOTHING)
  const run: PanelState['run'] = useCallback(
    async (name, input) => {
      setFailure(undefined)
      say('')
      try {
        const act: Act = client.act
        const output = await act(name, input)
        setMemory(before => remembered(before, { name, input } as Action, output))
        return output
      } catch (error) {
        setFailure(failureOf(error))
        return undefined
      }
    },
    [client]
  )
  const copy = useCallback((text: string) => {
    if (text === '' || page === undefined) return
    // A page that came over plain HTTP from elsewhere has no clipboard.
    const { clipboard }: Partial<Pick<Navigator, 'clipboard'>> = page.navigator
    if (clipboard === undefined) return say('The browser did not let the panel copy')
    clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('The browser did not let the panel copy')
    )
  }, [])
  const dismiss = useCallback(() => setFailure(undefined), [])
  return { run, copy, memory, failure, said, dismiss }
}

/** What an error says to a person. */
const failureOf = (error: unknown): Failure => {
  const { code, message, hint } = (typeof error === 'object' && error !== null ? error : {}) as Partial<
    Record<keyof Failure, unknown>
  >
  return {
    code: typeof code === 'string' ? code : 'UNKNOWN',
    message: typeof message === 'string' ? message : 'It failed without saying why.',
    ...(typeof hint === 'string' ? { hint } : {})
  }
}

const NOTHING: ActMemory = { drafts: new Map(), rounds: new Map() }
// As many drafts and rounds as a kernel keeps open, and more.
const KEPT = 100

/** Takes in what an action made. */
const remembered = (memory: ActMemory, action: Action, output: object): ActMemory => {
  if (action.name === 'swap.ask' && 'roundId' in output) {
    return { ...memory, rounds: withEntry(memory.rounds, String(output.roundId), action.input) }
  }
  if ((action.name === 'spend.draft' || action.name === 'swap.review') && 'draftId' in output) {
    return { ...memory, drafts: withEntry(memory.drafts, String(output.draftId), action.input) }
  }
  return memory
}

const withEntry = <V>(map: ReadonlyMap<string, V>, id: string, value: V): ReadonlyMap<string, V> =>
  new Map([...map, [id, value] as const].slice(-KEPT))

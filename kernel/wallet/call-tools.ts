import { withDeadline } from '../io/deadline.ts'
import type { Services } from '../services.ts'
import type { CurrencyTools } from '../types/engine.ts'

const CALL_MS = 60_000

/** One call of a currency's tools; `what` says what for, such as "reading a URI". */
export interface ToolsCall<T> {
  readonly pluginId: string
  readonly what: string
  call(tools: CurrencyTools): Promise<T>
}

/**
 * Calls the tools of a currency under a deadline; a throw is a rejection.
 *
 * @throws PLUGIN_FAILED, DEADLINE, or the plugin's error
 */
export const callTools = async <T>(
  services: Services,
  { pluginId, what, call }: ToolsCall<T>
): Promise<T> => {
  const tools = await services.plugins.toolsOf(pluginId)
  const { clock } = services.io
  return withDeadline({ clock, milliseconds: CALL_MS, what: `The plugin ${pluginId}, ${what}` }, () =>
    call(tools)
  )
}

import type { Terminal } from '../terminal.ts'
import { type EdgeLoginProps, EdgeLoginStatus } from './edge-login.tsx'
import { renderOnTerminal } from './show.tsx'

const FRAME_MS = 500

/** A request to log in that is being followed on the terminal. */
export interface EdgeLoginScreen {
  /** Leaves the last line on the terminal. */
  close(): Promise<void>
}

/** Draws the state of a request and the time that is left, until it is closed. */
export const openEdgeLoginScreen = (terminal: Terminal, look: () => EdgeLoginProps): EdgeLoginScreen => {
  const draw = () => <EdgeLoginStatus {...look()} />
  const screen = renderOnTerminal(draw(), terminal)
  const timer = setInterval(() => screen.rerender(draw()), FRAME_MS)
  return {
    async close() {
      clearInterval(timer)
      screen.rerender(draw())
      screen.unmount()
      await screen.waitUntilExit()
    }
  }
}

import { openLiveView } from '../output/print-result.ts'
import type { CommandResult } from '../output/view.ts'
import { openEventQueue, openEventStream, sleep } from './event-stream.ts'
import type { Session } from './session.ts'

/**
 * Shows a result again whenever wallets or rates change, until the command is stopped; with `--json` as one event each
 * time.
 *
 * To be called before the account is opened, since it taps hooks of the kernel.
 */
export const watchResult = async (
  session: Session,
  event: string,
  load: () => Promise<CommandResult>
): Promise<undefined> => {
  const events = openEventQueue<null>(session.signal)
  let isPending = false
  const notify = (): void => {
    if (!isPending) events.push(null)
    isPending = true
  }
  session.observe(({ hooks }) => {
    for (const hook of [hooks.accountChanged, hooks.walletChanged, hooks.engineChanged, hooks.ratesChanged])
      hook.tap('watch', notify)
  })
  const stream = openEventStream(session, { hasOneShape: true })
  const screen = openLiveView(session.terminal, session.globals)
  let last = ''
  notify()
  for await (const _ of events) {
    isPending = false
    const { data, view, warnings = [] } = await load()
    const text = JSON.stringify(data)
    if (text !== last) {
      session.statusLine.clear()
      if (last === '') {
        for (const warning of warnings) session.statusLine.warn(warning)
        session.statusLine.info('Watching; stop with Ctrl-C')
      }
      await stream.emit(event, data)
      if (!session.globals.json) await screen.draw(view)
    }
    last = text
    await sleep(session.signal, PAUSE_SECONDS)
  }
  await stream.end('stopped')
  return undefined
}

/** Many changes come together; they are shown at once. */
const PAUSE_SECONDS = 0.2

import { openLiveView } from '../output/print-result.ts'
import type { CommandResult } from '../output/view.ts'
import { openEventStream, openMailbox, waitFor } from './event-stream.ts'
import type { Session } from './session.ts'

/**
 * Shows a result anew whenever wallets or rates change, until the command is stopped; with `--json`, as one event each time.
 *
 * To be called before the account is opened: the hooks are listened to from then on.
 */
export const watchResult = async (
  session: Session,
  event: string,
  look: () => Promise<CommandResult>
): Promise<undefined> => {
  const news = openMailbox<null>(session.signal)
  let isTold = false
  const tell = (): void => {
    if (!isTold) news.post(null)
    isTold = true
  }
  session.observe(({ hooks }) => {
    for (const hook of [hooks.accountChanged, hooks.walletChanged, hooks.engineChanged, hooks.ratesChanged])
      hook.tap('watch', tell)
  })
  const stream = openEventStream(session)
  const screen = openLiveView(session.terminal, session.globals)
  let last = ''
  tell()
  for await (const _ of news) {
    isTold = false
    const { data, view, warnings = [] } = await look()
    const text = JSON.stringify(data)
    if (text !== last) {
      session.talk.clear()
      if (last === '') {
        for (const warning of warnings) session.talk.warn(warning)
        session.talk.say('Watching; Ctrl-C ends it')
      }
      await stream.emit(event, data)
      if (!session.globals.json) await screen.draw(view)
    }
    last = text
    await waitFor(session.signal, PAUSE_SECONDS)
  }
  await stream.end('stopped')
  return undefined
}

/** Many changes come together, and nobody reads faster. */
const PAUSE_SECONDS = 0.2

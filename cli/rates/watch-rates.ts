import type { RatePair } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import { openEventStream } from '../output/event-stream.ts'
import { openLiveView } from '../output/live-view.ts'
import { waitFor } from '../session/wait-for.ts'
import type { Session } from '../session.ts'

/** What is watched. */
export interface RateWatch {
  /** The name of its events with `--json`. */
  readonly event: string
  readonly pair: RatePair
  /** Undefined while there is no rate. */
  look(): CommandResult | undefined
}

/** Shows a value as rates come and grow old, until the command is stopped; providers are asked every 30 seconds. */
export const watchRates = async (session: Session, { event, pair, look }: RateWatch): Promise<undefined> => {
  const { rates } = await session.context()
  const stop = rates.want([pair])
  const stream = openEventStream(session)
  const screen = openLiveView(session.terminal, session.globals)
  session.talk.say('Watching; Ctrl-C ends it')
  let told = ''
  try {
    while (!session.signal.aborted) {
      const result = look()
      // A script is told what changed; that time passes is no change until the rate is stale.
      const facts = result === undefined ? '' : withoutAges(result)
      if (result !== undefined && !session.globals.json && isDrawn(session, facts !== told)) {
        await screen.draw(result.view)
      }
      if (result !== undefined && facts !== told) await stream.emit(event, result.data)
      told = facts
      await waitFor(session.signal, LOOK_SECONDS)
    }
  } finally {
    stop()
  }
  await stream.end('stopped')
  return undefined
}

const LOOK_SECONDS = 1

/** A person sees the age grow; at the other end of a pipe only news are written. */
const isDrawn = ({ terminal }: Session, isNew: boolean): boolean => isNew || terminal.stdout.isTTY === true

const withoutAges = ({ data }: CommandResult): string =>
  JSON.stringify(data, (key, value: unknown) => (AGES.has(key) ? undefined : value))

const AGES: ReadonlySet<string> = new Set(['ageSeconds', 'cost', 'totalCost'])

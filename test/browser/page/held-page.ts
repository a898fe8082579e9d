/// <reference lib="dom" />
// Runs in a browser: the panel over a sample whose actions wait until a test answers them.

import type { Action, Actions } from '../../../app/actions/actions.ts'
import type { ClientStatus, DevtoolsClient } from '../../../devtools/core/client/client.ts'
import type { JournalEvent } from '../../../devtools/core/model/facts.ts'
import type { View } from '../../../devtools/core/model/slices.ts'
import { mountPanel } from '../../../devtools/react/mount-panel.tsx'
import type { JsonObject, Observable } from '../../../kernel/index.ts'
import { makeSampleClient, SAMPLE_NOW, sampleEvents, sampleView } from '../../devtools/react/sample-client.ts'

/** What the page offers, as `globalThis.held`. */
export interface HeldPage {
  /** Everything that was asked for so far. */
  readonly requested: readonly Action[]
  /** Answers the oldest question that waits. */
  answer(output: Actions[keyof Actions]['out']): void
  /** Answers the newest question. */
  answerLast(output: Actions[keyof Actions]['out']): void
  refuse(failure: { readonly code: string; readonly message: string; readonly details?: JsonObject }): void
  status(status: Partial<ClientStatus>): void
  view(): View
  /** Changes what is shown; tables that are left out stay. */
  emit(view: Partial<View>): void
  log(events: readonly JournalEvent[]): void
  /** Draws the same panel over another client. */
  replaceClient(): void
  unmount(): void
  /** Puts a second panel where the first one is, or was; gives what that says. */
  mountAgain(): string
  update(): void
}

interface Question {
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
}

const requested: Action[] = []
const questions: Question[] = []

const makeHeldClient = (): DevtoolsClient => ({
  ...makeSampleClient({ view: sampleView, events: sampleEvents(30) }),
  runAction: (name, input) => {
    requested.push({ name, input } as Action)
    return new Promise((resolve, reject) => questions.push({ resolve, reject }))
  }
})

const place = document.body.appendChild(document.createElement('div'))
place.style.blockSize = '100vh'
let client = makeHeldClient()
const mounted = mountPanel(place, { client, ownsPage: true, now: () => SAMPLE_NOW })

const held: HeldPage = {
  requested,
  answer: output => questions.shift()?.resolve(output as never),
  answerLast: output => questions.pop()?.resolve(output as never),
  refuse: ({ message, ...rest }) => questions.shift()?.reject(Object.assign(new Error(message), rest)),
  status: status => (client.status as Observable<ClientStatus>).update(status),
  view: () => client.view.getSnapshot(),
  emit: view => (client.view as Observable<View>).update(view),
  log: events => (client.events as Observable<readonly JournalEvent[]>).set(events),
  replaceClient() {
    client = makeHeldClient()
    mounted.update({ client })
  },
  unmount: () => mounted.unmount(),
  mountAgain() {
    try {
      mountPanel(place, { client })
      return 'mounted'
    } catch (error) {
      return String(error)
    }
  },
  update: () => mounted.update({ theme: 'dark' })
}

Object.assign(globalThis, { held })

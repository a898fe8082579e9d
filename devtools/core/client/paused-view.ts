import type { Readable } from '../../../kernel/index.ts'
import { ActionError } from '../model/action-error.ts'
import type { ClientStatus, DevtoolsClient } from './client.ts'

/**
 * The tables and events of a client as they are now, for a person who wants to read them while the kernel goes on.
 *
 * Nothing can be done meanwhile: nobody shall act upon what may be otherwise by now. A loss of the kernel is told all the
 * same. The client itself goes on and stays open.
 */
export const holdStill = (client: DevtoolsClient): DevtoolsClient => ({
  view: still(client.view.getSnapshot()),
  events: still(client.events.getSnapshot()),
  status: {
    subscribe: listener => client.status.subscribe(listener),
    getSnapshot: heldStatus(client.status)
  },
  act: () =>
    Promise.reject(
      new ActionError({
        code: 'READ_ONLY',
        message: 'The panel is held still, so nothing can be done in it.',
        hint: 'Let it go on first.'
      })
    ),
  close() {}
})

const still = <S>(snapshot: S): Readable<S> => ({ subscribe: () => () => {}, getSnapshot: () => snapshot })

/** Gives the same object for the same status, as a readable must. */
const heldStatus = (live: Readable<ClientStatus>): (() => ClientStatus) => {
  let told = live.getSnapshot()
  let shown = pastOf(told)
  return () => {
    const status = live.getSnapshot()
    if (status !== told) shown = pastOf(status)
    told = status
    return shown
  }
}

const pastOf = (status: ClientStatus): ClientStatus =>
  status.connection === 'live' ? { ...status, connection: 'past' } : status

/** How many events have come since a client was held still. */
export const eventsSince = (held: DevtoolsClient, client: DevtoolsClient): number => {
  const newest = client.events.getSnapshot().at(-1)?.seq ?? 0
  return Math.max(0, newest - (held.events.getSnapshot().at(-1)?.seq ?? 0))
}

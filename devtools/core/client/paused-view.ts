import { ActionError } from '../../../app/actions/action-error.ts'
import type { Readable } from '../../../kernel/index.ts'
import type { ClientStatus, DevtoolsClient } from './client.ts'

/**
 * The tables and events of a client as they are now, for a person who wants to read them while the kernel goes on.
 *
 * Nothing can be done meanwhile: nobody shall act upon what may be otherwise by now. A loss of the
 * kernel still shows. The client itself goes on and stays open.
 */
export const pauseView = (client: DevtoolsClient): DevtoolsClient => ({
  view: frozen(client.view.getSnapshot()),
  events: frozen(client.events.getSnapshot()),
  status: {
    subscribe: listener => client.status.subscribe(listener),
    getSnapshot: pausedStatus(client.status)
  },
  runAction: () =>
    Promise.reject(
      new ActionError({
        code: 'READ_ONLY',
        message: 'The view is paused, so actions are off.',
        hint: 'Resume it first.'
      })
    ),
  close() {}
})

const frozen = <S>(snapshot: S): Readable<S> => ({ subscribe: () => () => {}, getSnapshot: () => snapshot })

/** Gives the same object for the same status, as a readable must. */
const pausedStatus = (live: Readable<ClientStatus>): (() => ClientStatus) => {
  let latest = live.getSnapshot()
  let shown = withPastConnection(latest)
  return () => {
    const status = live.getSnapshot()
    if (status !== latest) shown = withPastConnection(status)
    latest = status
    return shown
  }
}

const withPastConnection = (status: ClientStatus): ClientStatus =>
  status.connection === 'live' ? { ...status, connection: 'past' } : status

/** Counts the events since a client was paused. */
export const eventsSince = (paused: DevtoolsClient, client: DevtoolsClient): number => {
  const newest = client.events.getSnapshot().at(-1)?.seq ?? 0
  return Math.max(0, newest - (paused.events.getSnapshot().at(-1)?.seq ?? 0))
}

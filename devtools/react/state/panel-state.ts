import { type Context, createContext, useContext, useEffect, useState } from 'react'
import type { ActionFailure } from '../../../app/actions/action-error.ts'
import type { ActionName, Actions } from '../../../app/actions/actions.ts'
import type { ClientStatus, DevtoolsClient } from '../../core/client/client.ts'
import type { ActionMemory } from '../../core/model/command-names.ts'
import type { View } from '../../core/model/slices.ts'
import { useStore } from '../../use-store.ts'
import type { DisplayedClient } from './displayed-client.ts'
import type { PanelLocation } from './location.ts'
import type { Recorder } from './recorder.ts'

/** A failure for a person. `details`: its figures. */
export type PanelFailure = ActionFailure

/** Receives why an action failed; returns true if it shows that itself. */
export type FailureHandler = (failure: PanelFailure) => boolean

/** A route that was asked for, and what came. */
export interface RequestedRoute {
  readonly input: Actions['rates.route']['in']
  readonly answer: Actions['rates.route']['out']
}

/** The results of earlier actions in this panel. */
export interface PanelMemory extends ActionMemory {
  /** The newest route that was asked for. */
  readonly requested?: RequestedRoute
  /** The transaction of the newest payment, by the id of its wallet, or of its quote; undefined if nobody knows whether it was sent. */
  readonly sent: ReadonlyMap<string, string | undefined>
}

/** The way from a file to the recording that is drawn. */
export interface RecordingOpener {
  /** The dialog that asks for a file is open. */
  readonly isPrompting: boolean
  /** A file is being read. */
  readonly isReading: boolean
  readonly query: () => void
  /** Reads a file, in the place of one that is still read. Draws it and closes the dialog, or shows why it could not be opened. */
  readonly read: (file: Blob) => void
  /** Closes the dialog, and stops what is being read. */
  readonly cancel: () => void
}

/** The state that all parts of one panel share. */
export interface PanelState {
  /** The displayed client: {@link PanelState.live}, or its state at a moment. */
  readonly client: DevtoolsClient
  /** The one that the panel was given, which goes on whatever is drawn. */
  readonly live: DevtoolsClient
  /** The displayed client, and the ways to change it. */
  readonly displayed: DisplayedClient
  readonly recorder: Recorder
  readonly opener: RecordingOpener
  readonly location: PanelLocation
  /** Goes elsewhere; what is left out stays, save the choice, which goes with its panel. */
  readonly go: (place: Partial<PanelLocation>) => void
  /** Why the last action failed; it is shown where the person is, in the open dialog or at the bottom of the panel. */
  readonly failure: PanelFailure | undefined
  readonly dismiss: () => void
  /** A dialog is open; then it alone shows why something failed. */
  readonly hasDialog: boolean
  /** A dialog has opened; the returned function says that it has closed. */
  readonly enterDialog: () => () => void
  /** Does an action; if it fails, gives undefined. What makes a draft opens its review, too. */
  readonly run: <K extends ActionName>(
    name: K,
    input: Actions[K]['in'],
    onFailure?: FailureHandler
  ) => Promise<Actions[K]['out'] | undefined>
  /** Does something that is no action; if it fails, gives undefined. */
  readonly attempt: <T>(work: () => Promise<T>, onFailure?: FailureHandler) => Promise<T | undefined>
  /** Shows the command that does what the control with the focus, or under the pointer, does. */
  readonly showCommand: (commandLine: string) => void
  readonly copy: (text: string) => void
  /** Announces what was done, at the bottom of the panel. */
  readonly say: (words: string) => void
  /** The results of earlier actions, for commands that repeat them and for the outcome of payments. */
  readonly memory: PanelMemory
  /** The time of what is drawn, by which ages and countdowns count, in Unix milliseconds. */
  readonly now: () => number
  /** The present time, whatever is drawn, in Unix milliseconds. */
  readonly clock: () => number
}

/** The context that holds the state of the panel. */
export const PanelContext: Context<PanelState | undefined> = createContext<PanelState | undefined>(undefined)

/**
 * Returns the state that all parts of the panel share.
 *
 * @throws Error outside of a panel
 */
export const usePanel = (): PanelState => {
  const state = useContext(PanelContext)
  if (state === undefined) throw new Error('This component is not inside a panel')
  return state
}

/** All tables of the kernel. */
export const useView = (): View => useStore(usePanel().client.view)

/** Returns the state of the connection to the kernel. */
export const useStatus = (): ClientStatus => useStore(usePanel().client.status)

/** Returns true if changes are possible: live, and not read-only. */
export const useCanRunActions = (): boolean => {
  const { connection, isReadOnly } = useStatus()
  return connection === 'live' && !isReadOnly
}

/** The time of what is drawn, in Unix milliseconds; drawn anew every second. */
export const useNow = (): number => {
  const { now } = usePanel()
  const [, drawAnew] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => drawAnew(turn => turn + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  // Read each time, so that a panel that turns to another moment shows that one at once.
  return now()
}

/** A number for each client: the key of parts whose state belongs to one, such as a dialog that is open. */
export const clientNumber = (client: DevtoolsClient): number => {
  const known = numbers.get(client)
  if (known !== undefined) return known
  count += 1
  numbers.set(client, count)
  return count
}

const numbers = new WeakMap<DevtoolsClient, number>()
let count = 0

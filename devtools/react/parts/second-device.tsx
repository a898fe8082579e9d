import { type ReactElement, useRef, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { countdownText } from '../../../app/format/quotes.ts'
import { useNow, usePanel } from '../state/panel-state.ts'
import { CommandLine } from './action-forms.tsx'
import { QrCode } from './qr-code.tsx'
import { visibleText } from './texts.ts'

type DeviceRequest = Actions['approval.request']['out']

/** Another device that approves a draft. */
interface SecondDeviceState {
  /** The request that waits for an answer. */
  readonly pending: DeviceRequest | undefined
  /** Asks until every payment of the draft is approved. Resolves to false if one is not: after a no, a failure or {@link stop}. */
  readonly request: () => Promise<boolean>
  /** Withdraws the request. */
  readonly stop: () => void
}

/** Asks another device of the account about a draft. */
export const useSecondDevice = (draftId: string): SecondDeviceState => {
  const { run } = usePanel()
  const [pending, setPending] = useState<DeviceRequest | undefined>()
  const isStopped = useRef(false)
  const request = async (): Promise<boolean> => {
    isStopped.current = false
    let isMoreNeeded = true
    while (isMoreNeeded) {
      const made = await run('approval.request', { draftId }, () => isStopped.current)
      if (made === undefined || isStopped.current) return false
      setPending(made)
      const answer = await run('approval.wait', { draftId }, () => isStopped.current)
      setPending(undefined)
      if (answer === undefined) return false
      isMoreNeeded = answer.isMoreNeeded
    }
    return true
  }
  const stop = (): void => {
    isStopped.current = true
    void run('approval.cancel', { draftId }, () => true)
  }
  return { pending, request, stop }
}

/** Shows the code to type on the other device, and how long it is waited for. */
export const SecondDevice = (props: {
  readonly pending: DeviceRequest
  readonly onStop: () => void
}): ReactElement => {
  const { lobbyId, endsAt, untrusted } = props.pending
  const now = useNow()
  return (
    <section className="second-device" aria-label="Second device">
      <QrCode text={lobbyId} label="QR code of the code for the other device" />
      <div>
        <p>
          Approve it on the device {devicesText(untrusted.approvers)}. Scan this code there, or type it:{' '}
          <b className="mono breaking">{visibleText(lobbyId)}</b>
        </p>
        <CommandLine text={`holdfast policy approve ${lobbyId}`} />
        <p className="acts">
          <span>Waiting, {countdownText(Math.max(0, endsAt - now))} left.</span>
          <button type="button" className="button" onClick={props.onStop}>
            Stop waiting
          </button>
        </p>
      </div>
    </section>
  )
}

/** Names devices, of which any may answer (pure). */
export const devicesText = (names: readonly string[]): string =>
  names.map(name => `“${visibleText(name)}”`).join(' or ')

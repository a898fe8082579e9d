import { ActionError } from './action-error.ts'
import { approve } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import type { DraftApprovals } from './draft-approvals.ts'
import { about, flag, id, list, type Nothing, nothing, object, time, untrusted } from './schema.ts'
import type { ActionServices } from './services.ts'
import { type DraftRef, draftRef } from './spend-review.ts'

/** A payment that waits for another device. */
interface DeviceRequest {
  /** The code to type on the other device. */
  readonly lobbyId: string
  /** By the time of the account. */
  readonly endsAt: number
  readonly untrusted: { readonly approvers: readonly string[] }
}

interface DeviceAnswer {
  /** Another payment of the draft waits, too. */
  readonly isMoreNeeded: boolean
}

/** Actions about a second device that approves a draft. */
export interface ApprovalActions {
  readonly 'approval.request': { readonly in: DraftRef; readonly out: DeviceRequest }
  readonly 'approval.wait': { readonly in: DraftRef; readonly out: DeviceAnswer }
  readonly 'approval.cancel': { readonly in: DraftRef; readonly out: Nothing }
}

/** Seconds. */
const LONGEST = 600

/** @throws ActionError GONE */
const draftOf = (
  { spends, swaps, io }: ActionServices,
  draftId: string
): { readonly approvals: DraftApprovals; readonly leftSeconds: number } => {
  const swap = swaps.find(draftId)
  // Throws: a draft that is not there cannot be taken.
  const { approvals } = swap ?? spends.find(draftId) ?? spends.take(draftId)
  const expiresAt = swap?.review.expirationDate?.getTime() ?? Number.POSITIVE_INFINITY
  const left = Math.min(spends.leftOf(draftId) + swaps.leftOf(draftId), expiresAt - io.clock.now())
  return { approvals, leftSeconds: Math.max(1, Math.floor(left / 1000)) }
}

const OF_SEND = { command: 'send', own: 'it asks and waits on the terminal, in the same command' }
const NO_COMMAND = { none: 'send waits by itself, and Ctrl-C withdraws what was asked' }
const NOT_FOR_PROGRAMS = { none: 'a person pays what another device has approved' }

/** A second device: it is asked about a draft that was reviewed, and the draft is approved as any other afterwards. */
export const approvalActions: DeclarationsOf<ApprovalActions> = {
  'approval.request': {
    title: 'Ask a second device',
    summary:
      'Asks the other devices of the account to approve a payment that was drafted, where a rule wants that. Gives the code to type on one of them.',
    effect: 'changes',
    input: draftRef,
    output: object<DeviceRequest>({
      lobbyId: about(id, 'The code to type on the other device'),
      endsAt: time,
      untrusted: object<DeviceRequest['untrusted']>({ approvers: list(untrusted(), 20) })
    }),
    async run(services, { draftId }) {
      if (services.isAlone === true) throw ALONE
      const { approvals, leftSeconds } = draftOf(services, draftId)
      const { lobbyId, endsAt, approvers } = await approvals.request(Math.min(LONGEST, leftSeconds))
      return { lobbyId, endsAt, untrusted: { approvers: approvers.map(({ name }) => name) } }
    },
    commandLine: approve,
    faces: { cli: OF_SEND, panel: 'second-device', mcp: NOT_FOR_PROGRAMS }
  },
  'approval.wait': {
    title: 'Wait for a second device',
    summary: 'Waits until the device that was asked has approved the payment; fails after a no.',
    effect: 'changes',
    input: draftRef,
    output: object<DeviceAnswer>({
      isMoreNeeded: about(flag, 'True if another payment of the draft needs an approval, too')
    }),
    run: async (services, { draftId }) => ({
      isMoreNeeded: await draftOf(services, draftId).approvals.wait()
    }),
    commandLine: () => undefined,
    faces: { cli: NO_COMMAND, panel: 'second-device', mcp: NOT_FOR_PROGRAMS }
  },
  'approval.cancel': {
    title: 'Ask a second device no more',
    summary: 'Withdraws what a second device was asked. The draft can still be approved or discarded.',
    effect: 'changes',
    input: draftRef,
    output: nothing,
    async run(services, { draftId }) {
      draftOf(services, draftId).approvals.cancel()
      return {}
    },
    commandLine: () => undefined,
    faces: { cli: NO_COMMAND, panel: 'second-device', mcp: NOT_FOR_PROGRAMS }
  }
}

const ALONE = new ActionError({
  code: 'NO_DEVICE',
  message: 'No other device can approve: the fake world runs only for this process.',
  hint: 'Serve it in another terminal with: holdfast fake start'
})

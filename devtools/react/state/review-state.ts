import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import type { Action } from '../../../app/actions/actions.ts'
import type { SpendReview } from '../../../app/actions/spend-review.ts'
import type { DevtoolsClient } from '../../core/client/client.ts'

/** The draft that is read before it is signed. */
export interface Review {
  readonly draft: ReviewedDraft | undefined
  /** False while another one is read, which must not change under the hand that is about to approve it; and of another client. */
  readonly open: (draft: ReviewedDraft) => boolean
  /** Closes the review of this draft; of another one, nothing happens: an answer may come late. */
  readonly close: (draft: ReviewedDraft) => void
}

/** One review at a time. A panel that is given another client leaves it. */
export const useReview = (client: DevtoolsClient): Review => {
  const [shown, setShown] = useState<OpenReview | undefined>()
  const newest = useRef<OpenReview | undefined>(undefined)
  const present = useRef(client)
  useLayoutEffect(() => {
    present.current = client
  }, [client])
  const show = useCallback((next: OpenReview | undefined) => {
    newest.current = next
    setShown(next)
  }, [])
  const open = useCallback(
    (draft: ReviewedDraft) => {
      if (present.current !== client || newest.current?.of === client) return false
      show({ of: client, draft })
      return true
    },
    [client, show]
  )
  const close = useCallback(
    (draft: ReviewedDraft) => {
      if (newest.current?.draft === draft) show(undefined)
    },
    [show]
  )
  return { draft: shown?.of === client ? shown.draft : undefined, open, close }
}

interface OpenReview {
  readonly of: DevtoolsClient
  readonly draft: ReviewedDraft
}

/** A draft that waits for a yes. */
export interface ReviewedDraft {
  readonly draftId: string
  readonly review: SpendReview
  /** The action that made it, for the command that does the same. */
  readonly action: Extract<
    Action,
    {
      readonly name:
        | 'proposal.review'
        | 'spend.bump'
        | 'spend.draft'
        | 'spend.replace'
        | 'spend.sweep'
        | 'swap.review'
    }
  >
}

/** Says no to a draft. One that is gone already, or out of reach, is never signed either, so a failure means nothing. */
export const discard = ({ runAction }: DevtoolsClient, { action, draftId }: ReviewedDraft): void => {
  runAction(action.name === 'swap.review' ? 'swap.discard' : 'spend.discard', { draftId }).catch(() => {})
}

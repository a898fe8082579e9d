import type { ReactElement } from 'react'
import { usePanel } from './panel-state.ts'
import { BrokenNotice, ErrorBoundary } from './parts/error-boundary.tsx'
import { type Draft, discard, ReviewDialog } from './parts/review-dialog.tsx'

/** The review of a draft. What cannot be shown cannot be approved: if it breaks, all that is left is to give the draft up. */
export const PanelReview = (props: { readonly draft: Draft; readonly onClose: () => void }): ReactElement => {
  const { draft, onClose } = props
  const { client } = usePanel()
  return (
    <ErrorBoundary
      place={draft.draftId}
      instead={reason => (
        <BrokenNotice what="The review" reason={reason}>
          <button
            type="button"
            className="button"
            onClick={() => {
              discard(client, draft)
              onClose()
            }}
          >
            Discard
          </button>
        </BrokenNotice>
      )}
    >
      <ReviewDialog key={draft.draftId} draft={draft} onClose={onClose} />
    </ErrorBoundary>
  )
}

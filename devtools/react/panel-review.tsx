import { type ReactElement, useMemo } from 'react'
import { PanelContext, usePanel } from './panel-state.ts'
import { BrokenNotice, ErrorBoundary } from './parts/error-boundary.tsx'
import { type Draft, discard, ReviewDialog } from './parts/review-dialog.tsx'

/**
 * The review of a draft, which is always of the present: whatever past the panel shows behind it. What cannot be shown cannot be
 * approved: if it breaks, all that is left is to give the draft up.
 */
export const PanelReview = (props: {
  readonly draft: Draft
  readonly onClose: (draft: Draft) => void
}): ReactElement => {
  const { draft } = props
  const onClose = (): void => props.onClose(draft)
  const state = usePanel()
  const { live, clock } = state
  const present = useMemo(() => ({ ...state, client: live, now: clock }), [state, live, clock])
  return (
    <PanelContext value={present}>
      <ErrorBoundary
        place={draft.draftId}
        instead={reason => (
          <BrokenNotice what="The review" reason={reason}>
            <button
              type="button"
              className="button"
              onClick={() => {
                discard(live, draft)
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
    </PanelContext>
  )
}

import type { ReactElement } from 'react'
import { usePanel } from '../panel-state.ts'
import { Everything } from './everything.tsx'

/** What became of the newest payment that was approved here for a wallet, or for a quote; nothing before the first. */
export const SentLine = (props: {
  /** The id of the wallet, or of the quote. */
  readonly of: string | undefined
  /** What the id of the transaction ends, such as `Sent as`. */
  readonly words: string
}): ReactElement | null => {
  const { sent } = usePanel().memory
  if (props.of === undefined || !sent.has(props.of)) return null
  const txid = sent.get(props.of)
  return txid === undefined ? (
    <p className="warn" role="status">
      The connection was lost before the answer to your approval came: nobody knows whether it was sent. The
      open payments of the wallet tell.
    </p>
  ) : (
    <>
      <p role="status">
        {props.words}{' '}
        <span className="mono" style={{ overflowWrap: 'anywhere' }}>
          {txid}
        </span>
      </p>
      <Everything id={txid} />
    </>
  )
}

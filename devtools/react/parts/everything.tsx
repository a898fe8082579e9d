import type { ReactElement } from 'react'
import type { View } from '../../core/slices.ts'
import type { PanelLocation } from '../location.ts'
import { usePanel, useView } from '../panel-state.ts'

/** Leads to all that hooks and plugins did about an id: of an action, wallet, payment, round, repo or plugin. */
export const Everything = ({ id }: { readonly id: string | undefined }): ReactElement | null => {
  const { go } = usePanel()
  const view = useView()
  if (id === undefined) return null
  return (
    <button type="button" className="link" onClick={() => go(everythingAbout(view, id))}>
      Show everything for this id
    </button>
  )
}

/** Where everything about an id is listed. A payment is followed by its correlation id, which it has before its txid (pure). */
export const everythingAbout = (view: View, id: string): PanelLocation => {
  const spend = [...view.spends.values()].find(({ txid }) => txid === id)
  return { panel: 'hooks', filter: spend?.correlationId ?? id }
}

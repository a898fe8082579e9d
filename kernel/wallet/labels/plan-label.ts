import type { Metadata } from '../../types/transaction.ts'
import { LABEL_FIELDS, type LabelTexts } from './label-row.ts'

/** What taking in one label comes to. */
export type LabelPlan =
  /** Something new, which replaces nothing unless that was asked for. */
  | { readonly status: 'applied'; readonly change: LabelTexts }
  /** All of it is here already. */
  | { readonly status: 'same' }
  /** Another text stands in a field, and stays. */
  | { readonly status: 'conflict'; readonly fields: readonly (keyof LabelTexts)[] }

/** Lays the texts of a label beside what is noted (pure). A field that is empty here takes the new text. */
export const planLabel = (noted: Metadata, texts: LabelTexts, mayReplace: boolean): LabelPlan => {
  const differing = LABEL_FIELDS.filter(field => texts[field] !== undefined && texts[field] !== noted[field])
  if (differing.length === 0) return { status: 'same' }
  const taken = differing.filter(field => (noted[field] ?? '') !== '')
  if (taken.length > 0 && !mayReplace) return { status: 'conflict', fields: taken }
  return { status: 'applied', change: Object.fromEntries(differing.map(field => [field, texts[field]])) }
}

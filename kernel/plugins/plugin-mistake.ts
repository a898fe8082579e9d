import { WalletError } from '../base/errors.ts'
import type { PluginId } from '../types/ids.ts'
import type { PluginMistake } from '../types/snapshots.ts'

/** The error of a plugin that has a field of the wrong shape. */
export const mistakeOf = (pluginId: PluginId, mistake: PluginMistake): WalletError =>
  new WalletError('PLUGIN_INVALID', { pluginId, ...mistake })

/** What is wrong with a plugin, in a sentence. */
export const mistakeText = ({ field, found, expected, hint }: PluginMistake): string =>
  `${field} is ${found}, and must be ${expected}${hint === undefined ? '' : `. ${hint}`}`

/** Asks whether another name was meant; undefined without one. */
export const meant = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : `Did you mean ${name}?`

/** The name that another one nearly is: but for its case, or for one or two letters that stand together. */
export const near = (name: string, names: readonly string[]): string | undefined => {
  const given = name.toLowerCase()
  const same = names.find(known => known.toLowerCase() === given)
  if (same !== undefined) return same
  return names.find(known => {
    const wanted = known.toLowerCase()
    if (Math.abs(given.length - wanted.length) > 1 || wanted.length < 3) return false
    let start = 0
    while (start < given.length && given[start] === wanted[start]) start += 1
    let end = 0
    const shorter = Math.min(given.length, wanted.length)
    while (end < shorter - start && given.at(-1 - end) === wanted.at(-1 - end)) end += 1
    return Math.max(given.length, wanted.length) - start - end <= 2
  })
}

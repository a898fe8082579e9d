import { compact } from '../base/compact.ts'
import { checkPath } from '../base/disk-path.ts'
import { WalletError } from '../base/errors.ts'
import type { Disk } from '../io/disk.ts'
import type { PluginId } from '../types/ids.ts'

/** The amount of data that one plugin may keep. */
export interface DiskQuota {
  readonly pluginId: PluginId
  /** Of all texts and paths together, in characters; 64 million if left out. */
  readonly maxCharacters?: number
  /** 10,000 if left out. */
  readonly maxFiles?: number
  /** Called once when a write is refused; the write also rejects. */
  onRefused(error: WalletError): void
}

/**
 * The disk of one plugin, which refuses writes beyond the plugin's quota; deleting and shrinking always work.
 *
 * The existing texts are measured before the first write, as disks do not report sizes, and counted from then on.
 *
 * @throws QUOTA_EXCEEDED from `setText`; nothing is written then
 */
export const quotaDisk = (disk: Disk, quota: DiskQuota): Disk => {
  const { pluginId, maxCharacters = MAX_CHARACTERS, maxFiles = MAX_FILES, onRefused } = quota
  let hasRefused = false
  let total = 0
  const lengths = new Map<string, number>()
  let measuring: Promise<void> | undefined
  const count = (path: string, length: number | undefined): void => {
    total += (length ?? 0) - (lengths.get(path) ?? 0)
    if (length === undefined) lengths.delete(path)
    else lengths.set(path, length)
  }
  const measure = async (): Promise<void> => {
    for (const path of await disk.list('')) {
      const text = await disk.getText(path).catch(() => '')
      if (!lengths.has(path) && text !== undefined) count(path, path.length + text.length)
    }
  }
  const measured = (): Promise<void> => {
    measuring ??= measure().catch((error: unknown) => {
      measuring = undefined
      throw error
    })
    return measuring
  }
  const refuse = (limit: number, what: 'characters' | 'files'): never => {
    const error = new WalletError('QUOTA_EXCEEDED', { pluginId, limit, what })
    if (!hasRefused) onRefused(error)
    hasRefused = true
    throw error
  }
  const { getSlice } = disk
  return {
    getText: path => disk.getText(path),
    ...compact({ getSlice: getSlice && ((path, start, end) => getSlice(path, start, end)) }),
    list: folder => disk.list(folder),
    async setText(path, text) {
      checkPath(path)
      await measured()
      const before = lengths.get(path)
      const length = path.length + text.length
      if (before === undefined && lengths.size >= maxFiles) refuse(maxFiles, 'files')
      const isLarger = length > (before ?? 0)
      if (isLarger && total - (before ?? 0) + length > maxCharacters) refuse(maxCharacters, 'characters')
      count(path, length)
      try {
        await disk.setText(path, text)
      } catch (error) {
        // Unless a later write has counted the file again, the old text is still there.
        if (lengths.get(path) === length) count(path, before)
        throw error
      }
    },
    async delete(path) {
      checkPath(path)
      // What is deleted before anything was measured need not be counted.
      await measuring?.catch(() => {})
      await disk.delete(path)
      count(path, undefined)
    }
  }
}

const MAX_CHARACTERS = 64_000_000
const MAX_FILES = 10_000

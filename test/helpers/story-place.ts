import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Disk } from '../../kernel/io/disk.ts'
import { type MemoryKind, makeFaultMedium } from './fault-store.ts'
import { type Medium, openMedium } from './media.ts'

/** Where a random story keeps things: a disk, or a store under a disk, that is closed or crashes and is opened again. */
export interface StoryPlace {
  open(): Promise<Disk>
  /** Ends what is open there as a crash would; nothing of ours is on its way any more. */
  crash(disk: Disk): Promise<void>
}

/** An empty place in memory. */
export const memoryPlace = (
  kind: MemoryKind = 'disk',
  contents: Map<string, string> = new Map()
): StoryPlace => ({
  open: async () => makeFaultMedium(kind, contents),
  crash: async () => {}
})

/** The place of a medium. */
export const mediumPlace = (medium: Medium): StoryPlace => ({
  open: () => openMedium(medium),
  // A database keeps what this process has open until it is closed.
  crash: async disk => disk.close?.()
})

/** Makes empty folders, one after another, that go with the test. */
export const folderPlaces = (t: Pick<ExecutionContext, 'teardown'>): (() => StoryPlace) => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-story-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  return () => mediumPlace({ kind: 'file', folder: mkdtempSync(join(home, 'a-')) })
}

import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** A folder on a file system of 16 MB of its own. */
export interface SmallFolder {
  readonly path: string
  /** Takes all room that is left; more than once, too. */
  fill(): void
  /** Gives it back. */
  free(): void
}

/** Mounts one for a test; undefined where that may not be done. */
export const mountSmallFolder = (t: ExecutionContext): SmallFolder | undefined => {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-small-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    t.log('skipped: a small file system cannot be mounted here')
    return undefined
  }
  t.teardown(() => void execFileSync('umount', ['--lazy', path]))
  const filler = join(path, 'filler')
  return {
    path,
    fill() {
      const file = openSync(filler, 'a')
      try {
        for (;;) writeSync(file, Buffer.alloc(4096, 1))
      } catch {
        // No room is left.
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler)
  }
}

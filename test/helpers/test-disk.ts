import type { Disk } from '../../kernel/plugin-api.ts'
import type { TestFunction } from '../../testing/run-with.ts'
import { type StorageSuiteOptions, testStoragePlugin } from '../../testing/storage-suite.ts'

/** Runs the conformance suite of storage plugins on disks that a function opens, each on the place of its number. */
export const testDisk = (
  test: TestFunction,
  openDisk: (place: number) => Promise<Disk>,
  options: StorageSuiteOptions
): void =>
  testStoragePlugin(
    test,
    place => ({
      kind: 'storage',
      id: 'tested',
      apply: ({ hooks }) => hooks.openDisk.tapPromise('tested', () => openDisk(place))
    }),
    options
  )

import test from 'ava'
import { mapStoreStorage } from '../../examples/map-store.ts'
import type { Plugin } from '../../kernel/index.ts'
import { SortedMap } from '../../kernel/plugin-api.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { surviveRestart } from '../helpers/storage-story.ts'

const files = new Map<string, string>()
const values = new SortedMap<Uint8Array>()

/** Each opens what it had before, again. */
const kinds: Readonly<Record<string, () => Plugin>> = {
  'a disk of texts': () => memoryStorage(files),
  'a store of bytes': () => mapStoreStorage(values)
}

for (const [kind, open] of Object.entries(kinds)) {
  test(`an account, a payment and its note are there after a restart without a network, on ${kind}`, t =>
    surviveRestart(t, async () => open()))
}

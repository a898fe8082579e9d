// Opens a database of LevelDB and keeps it until it is killed: `node level-holder.js <lock file> <folder>`.
import { createRequire } from 'node:module'
import { type LevelPackage, openLevelStore } from '../../../plugins/storage/level.ts'

const [lock = '', folder = ''] = process.argv.slice(2)
const store = await openLevelStore(folder, {
  load: async () => createRequire(lock)('classic-level') as LevelPackage
})
await store.batch([{ key: Uint8Array.of(1), value: Uint8Array.of(2) }])
process.send?.('open')
setInterval(() => {}, 60_000)

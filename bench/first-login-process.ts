import { readFileSync } from 'node:fs'
import { makeFakeWorld } from '../fake-server/fake-world.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { fileStorage } from '../plugins/storage/file/file-storage.ts'
import { openWorldDevice } from './bench-device.ts'
import { measure } from './measure.ts'

/** What a fresh process is told by its argument: one login on a device that another process left. */
export interface FirstLogin {
  /** The file of the saved world. */
  readonly world: string
  readonly folder: string
  readonly username: string
  readonly method: 'pin' | 'key'
  readonly pin: string
  readonly loginKey: string
}

const job = JSON.parse(process.argv[2] ?? '{}') as FirstLogin
const world = makeFakeWorld({ io: makeNodeIo(), saved: JSON.parse(readFileSync(job.world, 'utf8')) })
const device = await openWorldDevice(world, { storage: fileStorage(job.folder) })
const { value, cpuMs, wallMs } = await measure(() =>
  job.method === 'pin'
    ? device.context.loginWithPIN(job, job.pin)
    : device.context.loginWithKey(job, job.loginKey)
)
console.log(JSON.stringify({ cpuMs, wallMs, accountId: value.id }))
await device.close()
await world.close()

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { loadFakeUser } from '../../fake-server/users/load-user.ts'
import type { Json } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { check } from '../section.ts'
import { pause } from '../wait.ts'
import type { Fixture } from './fixture.ts'
import { openOwnDevice } from './own-side.ts'

/** A device of ours that has had the user of a fixture, and the world in which it did. */
export interface KnownDevice {
  /** A folder to copy. */
  readonly folder: string
  /** The file of the world without the contents of the repos: it knows their hashes, so nothing is sent anew. */
  readonly world: string
}

/** Logs in on a new device below a folder, lets it fetch and take in everything, and closes it. */
export const makeKnownDevice = async (folder: string, { user, dump }: Fixture): Promise<KnownDevice> => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const { clock, server } = world
  loadFakeUser({ db: server.db, crypto: io.crypto, clock }, JSON.parse(await readFile(dump, 'utf8')))
  const place = join(folder, 'device')
  const { transactionCount: count } = user
  const device = await openOwnDevice({ user, folder: place, world: { opened: world }, chainCount: count })
  const account = await device.loginWithPassword()
  const wallet = await account.openFirstWallet()
  if (count > 0) while ((await wallet.page(count - 1, 1)).length === 0) await pause(50)
  check((await account.openAllWallets()) === user.walletCount, 'the wallets of the prepared device')
  // The checkpoint of the engine is written after what it reported.
  await pause(SETTLE_MS)
  check(device.core.pendingCount === 0, 'a prepared device that changed something')
  await device.close()
  const path = join(folder, 'world.json')
  await mkdir(folder, { recursive: true })
  await writeFile(path, JSON.stringify(withoutFiles(world.toJson())))
  await world.close()
  return { folder: place, world: path }
}

const SETTLE_MS = 300

const withoutFiles = (saved: Json): Json => {
  const { entries, ...rest } = saved as { readonly entries: readonly { readonly kind: string }[] }
  return { ...rest, entries: entries.filter(({ kind }) => kind !== 'files') }
}

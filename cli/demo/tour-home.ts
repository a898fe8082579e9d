import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FakeWorld } from '../../fake-server/fake-world.ts'
import type { Io } from '../../kernel/index.ts'
import { openWorldHere } from '../profile/open-world.ts'
import { makePrivateFolder, type ProfilePaths, profilePaths } from '../profile/paths.ts'

/** Where a tour takes place. */
export interface TourHome {
  readonly world: FakeWorld
  /** Each device has a folder of its own below this one. */
  readonly folder: string
  /** The profile that keeps it; undefined if nothing is kept. */
  readonly profile: string | undefined
  readonly paths: ProfilePaths
  close(): Promise<void>
}

/** What a home is made of. */
export interface TourHomeOptions {
  readonly io: Io
  readonly isKept: boolean
  readonly holder: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Opens a fresh world: in a folder that is removed afterwards, or as a new profile that stays. */
export const openTourHome = async (options: TourHomeOptions): Promise<TourHome> => {
  if (options.isKept) {
    const { profile, paths } = await newProfile(options)
    const { world, close } = await openWorldHere(paths, options)
    return { world, folder: paths.data, profile, paths, close }
  }
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'))
  const paths = profilePaths('demo', { HOLDFAST_HOME: folder })
  makePrivateFolder(paths.data)
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const { world, close } = await openWorldHere(paths, options).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  return {
    world,
    folder: paths.data,
    profile: undefined,
    paths,
    async close() {
      await close()
      await remove()
    }
  }
}

const MAX_PROFILES = 10_000

const newProfile = async ({
  environment
}: TourHomeOptions): Promise<{ readonly profile: string; readonly paths: ProfilePaths }> => {
  for (let number = 1; number <= MAX_PROFILES; number += 1) {
    const profile = `demo-${number}`
    const paths = profilePaths(profile, environment)
    const isTaken = await stat(paths.data).then(
      () => true,
      () => false
    )
    if (!isTaken) return { profile, paths }
  }
  throw new Error('There are too many kept tours')
}

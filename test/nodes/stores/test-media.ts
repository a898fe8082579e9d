import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestFn } from 'ava'
import { type Medium, sqliteUrl } from '../../helpers/media.ts'
import { missingSqlite } from '../../helpers/sqlite-adapter.ts'
import { missingServer, type StoreServer, startPostgres, startRedis } from './servers.ts'

/** The kinds of media that need what is not installed with the wallet. */
export const ADDED_KINDS = ['level', 'postgres', 'redis', 'sqlite'] as const

/** One of {@link ADDED_KINDS}. */
export type AddedKind = (typeof ADDED_KINDS)[number]

/** Media of the tests of one file, on servers of its own that start when they are wanted. */
export interface TestMedia {
  /** Makes an empty medium. */
  make(kind: AddedKind): Promise<Medium>
  /** The address of a server. */
  url(kind: 'postgres' | 'redis'): Promise<string>
}

/** Returns the reason for which a kind cannot be tested here; undefined if it can. */
export const missingKind = (kind: AddedKind): string | undefined =>
  kind === 'level' ? undefined : kind === 'sqlite' ? missingSqlite() : missingServer(kind)

/** Makes the media of a test file, and ends them with it. */
export const makeTestMedia = (test: TestFn): TestMedia => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-media-'))
  const servers = new Map<string, Promise<StoreServer>>()
  let count = 0
  test.after.always(async () => {
    for (const server of servers.values()) await (await server).stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })
  const url = async (kind: 'postgres' | 'redis'): Promise<string> => {
    const server = servers.get(kind) ?? (kind === 'redis' ? startRedis() : startPostgres())
    servers.set(kind, server)
    return (await server).url
  }
  return {
    url,
    async make(kind) {
      count += 1
      const name = `place-${count}`
      if (kind === 'level') return { kind, folder: join(folder, name) }
      return { kind, url: kind === 'sqlite' ? sqliteUrl(join(folder, name)) : await url(kind), name }
    }
  }
}

import type { FakeWorld } from '../../fake-server/fake-world.ts'

/** How much the sync server of a world holds. */
export interface ServerFiles {
  readonly repos: number
  readonly files: number
}

/** Counts what the sync server holds, and makes sure that each file is a box. @throws Error if one is not */
export const countServerFiles = (world: FakeWorld): ServerFiles => {
  const { db } = world.server
  let files = 0
  for (const entry of db.entries()) {
    if (entry.kind !== 'files') continue
    for (const [path, , content] of entry.files) {
      // A file that was deleted.
      if (content === null) continue
      if (!isBox(content)) throw new Error(`The server holds ${path} in plain text`)
      files += 1
    }
  }
  return { files, repos: db.counts.repos }
}

/** A box of the deployed format: AES-256-CBC, encryption type 0 (protocol §1.2). */
const isBox = (content: unknown): boolean =>
  typeof content === 'object' &&
  content !== null &&
  'encryptionType' in content &&
  'iv_hex' in content &&
  'data_base64' in content

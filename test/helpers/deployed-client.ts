import { openText } from '../../kernel/crypto/box.ts'
import type { Io } from '../../kernel/io/io.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { boxOf, dataKey, syncKey } from './repo-device.ts'

/**
 * The repo of a deployed client (protocol §3.3): it sends whole files without a look at what others wrote, takes the
 * reply for the merged result, and forgets what it sent.
 */
export interface DeployedClient {
  /** The visible text of a file. */
  text(path: string): string | undefined
  setText(path: string, text: string): void
  paths(): string[]
  readonly pendingCount: number
  /** @throws Error if the server does not answer with success */
  sync(): Promise<void>
}

/** Opens an empty repo of a deployed client. */
export const makeDeployedClient = (io: Io): DeployedClient => {
  const data = new Map<string, Box>()
  const changes = new Map<string, Box>()
  let lastHash = ''
  return {
    text(path) {
      const box = changes.get(path) ?? data.get(path)
      return box === undefined ? undefined : openText(io, dataKey, box)
    },
    setText: (path, text) => void changes.set(path, boxOf(text)),
    paths: () => [...new Set([...data.keys(), ...changes.keys()])].sort(),
    get pendingCount() {
      return changes.size
    },
    async sync() {
      const sent = [...changes]
      const url = `https://sync.example/api/v2/store/${io.crypto.toHex(syncKey)}/${lastHash}`
      const body = JSON.stringify({ changes: Object.fromEntries(sent) })
      const { status, text } = await io.fetch(url, sent.length === 0 ? {} : { method: 'POST', body })
      if (status !== 200) throw new Error(`HTTP ${status}`)
      const reply = JSON.parse(text) as { changes: Record<string, Box | null>; hash?: string }
      for (const [path, box] of Object.entries(reply.changes)) {
        if (box === null) data.delete(path)
        else data.set(path, box)
      }
      for (const [path] of sent) changes.delete(path)
      lastHash = reply.hash ?? lastHash
    }
  }
}

import { isRecord, parseJson } from './base/json.ts'
import { quarantine } from './base/quarantine.ts'
import type { Disk } from './io/disk.ts'
import type { Io } from './io/io.ts'

const PATH = 'client.json'
const LENGTH = 16

/**
 * Reads the random id of this device, or makes it on the first start (protocol §3.1; specification §9).
 *
 * A damaged file is kept in quarantine, reported and replaced; where the disk cannot be read or written, the id is for
 * this run only.
 *
 * @returns base64 of 16 bytes
 */
export const openClientId = async (io: Io, disk: Disk, report: (error: unknown) => void): Promise<string> => {
  const fresh = io.crypto.toBase64(io.random(LENGTH))
  try {
    const text = await disk.getText(PATH)
    const known = text === undefined ? undefined : readId(io, text)
    if (known !== undefined) return known
    if (text !== undefined) {
      report(await quarantine(disk, io.clock, { path: PATH, text, rule: 'it holds no client id' }))
    }
    await disk.setText(PATH, JSON.stringify({ clientId: fresh }))
  } catch (error) {
    report(error)
  }
  return fresh
}

const readId = ({ crypto }: Io, text: string): string | undefined => {
  try {
    const value = parseJson(text, PATH)
    const clientId = isRecord(value) ? value.clientId : undefined
    return typeof clientId === 'string' && crypto.fromBase64(clientId).length === LENGTH
      ? clientId
      : undefined
  } catch {
    return undefined
  }
}

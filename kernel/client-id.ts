import type { Io } from './io/io.ts'
import type { Disk } from './repo/disk.ts'
import { isRecord } from './schema/fields.ts'
import { parseJson } from './schema/parse.ts'

const PATH = 'client.json'
const LENGTH = 16

/**
 * Reads the random id of this device, or makes it on the first start (protocol §3.1; specification §9).
 *
 * A file that cannot be read is left as it is and reported; an id for this run only is used instead.
 *
 * @returns base64 of 16 bytes
 */
export const openClientId = async (io: Io, disk: Disk, report: (error: unknown) => void): Promise<string> => {
  const fresh = io.crypto.toBase64(io.random(LENGTH))
  try {
    const text = await disk.getText(PATH)
    if (text === undefined) {
      await disk.setText(PATH, JSON.stringify({ clientId: fresh }))
      return fresh
    }
    const value = parseJson(text, PATH)
    const clientId = isRecord(value) ? value.clientId : undefined
    if (typeof clientId === 'string' && io.crypto.fromBase64(clientId).length === LENGTH) return clientId
    throw new TypeError('client.json has no client id')
  } catch (error) {
    report(error)
    return fresh
  }
}

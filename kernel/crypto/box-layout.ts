import type { BoxMark, SealIo } from './box.ts'

/** Bytes of a block of the cipher. */
export const BLOCK = 16

/** What a box has besides its payload and its mark: vector, lengths, noise, checksum and padding. */
export const MOST_AROUND: number = BLOCK + 6 + 2 * 31 + 32 + BLOCK

/** The most bytes of a mark: headers and footers may have up to 255 bytes (protocol §1.3), 31 of noise among them. */
export const MAX_MARK: number = 2 * (255 - 31)

/** Writes a payload from `start` on and gives where it ends. */
export type WritePayload = (plain: Uint8Array, start: number) => number

/** What stands before and behind a payload, so that its length does not show. */
export type Noise = 'random' | 'aligned'

/** Where a box is written, and what stands in it besides the payload. */
export interface BoxLayout {
  readonly io: SealIo
  readonly plain: Uint8Array
  readonly noise: Noise
  readonly mark?: BoxMark | undefined
}

/**
 * Writes a block of random bytes and the plaintext of a box (protocol §1.3) from `start` on; gives where they end.
 *
 * The cipher makes the vector of the box of the random block. Noise that is `aligned` is just so much that the payload of a
 * box at 0 begins at a multiple of 8. A mark stands at the beginning of header and
 * footer, where readers look for nothing.
 */
export const layOutBox = (
  { io, plain, noise, mark }: BoxLayout,
  start: number,
  write: WritePayload
): number => {
  const random = io.random(BLOCK + 2 + 2 * NOISE_MASK)
  const noiseLength = noise === 'aligned' ? ALIGNING : (random[BLOCK] ?? 0) & NOISE_MASK
  const markLength = mark?.header.length ?? 0
  const headerLength = markLength + noiseLength
  const footerMark = mark?.footer.length ?? 0
  const footerLength = footerMark + (noise === 'aligned' ? 0 : (random[BLOCK + 1] ?? 0) & NOISE_MASK)
  const begin = start + BLOCK
  for (let i = 0; i < BLOCK; i += 1) plain[start + i] = random[i] ?? 0
  plain[begin] = headerLength
  for (let i = 1; i <= markLength; i += 1) plain[begin + i] = mark?.header[i - 1] ?? 0
  for (let i = 1; i <= noiseLength; i += 1) plain[begin + markLength + i] = random[BLOCK + 1 + i] ?? 0
  const lengthAt = begin + 1 + headerLength
  const payloadEnd = write(plain, lengthAt + 4)
  writeLength(plain, lengthAt, payloadEnd - lengthAt - 4)
  plain[payloadEnd] = footerLength
  const footerNoise = BLOCK + 2 + NOISE_MASK
  for (let i = 0; i < footerLength; i += 1)
    plain[payloadEnd + 1 + i] = mark?.footer[i] ?? random[footerNoise + i - footerMark] ?? 0
  const checksumAt = payloadEnd + 1 + footerLength
  plain.set(io.crypto.sha256(plain.subarray(begin, checksumAt)), checksumAt)
  const paddingAt = checksumAt + CHECKSUM
  const end = paddingAt + BLOCK - ((paddingAt - begin) % BLOCK)
  plain.fill(end - paddingAt, paddingAt, end)
  return end
}

/**
 * Lends room for plaintext, and overwrites as much of it with zeros as was used.
 *
 * The room is the same each time, because fresh memory costs more than what is done in it; nothing else runs before it
 * is given back.
 *
 * @param task - says how much it used
 */
export const inScratch = <T>(
  room: number,
  task: (plain: Uint8Array) => { readonly used: number; readonly result: T }
): T => {
  const plain = room <= SCRATCH ? sharedScratch() : new Uint8Array(room)
  let used = room
  try {
    const done = task(plain)
    used = done.used
    return done.result
  } finally {
    plain.fill(0, 0, used)
  }
}

const CHECKSUM = 32
const NOISE_MASK = 0x1f
const ALIGNING = 3
const SCRATCH = 1024 * 1024
let scratch: Uint8Array | undefined

const writeLength = (bytes: Uint8Array, offset: number, length: number): void => {
  bytes[offset] = length >>> 24
  bytes[offset + 1] = length >>> 16
  bytes[offset + 2] = length >>> 8
  bytes[offset + 3] = length
}

const sharedScratch = (): Uint8Array => {
  scratch ??= new Uint8Array(SCRATCH)
  return scratch
}

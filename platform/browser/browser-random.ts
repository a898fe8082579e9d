/** Random bytes of the browser's generator, which gives 65,536 at a time. */
export const browserRandom = (count: number): Uint8Array => {
  const bytes = new Uint8Array(count)
  for (let start = 0; start < count; start += MAX_DRAW) {
    globalThis.crypto.getRandomValues(bytes.subarray(start, start + MAX_DRAW))
  }
  return bytes
}

const MAX_DRAW = 65_536

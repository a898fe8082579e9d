/** An even random integer: 0 ≤ result < `below`. */
export type RandomBelow = (below: number) => number

/** Makes even random integers below at most 2^24 from random bytes, without modulo bias. */
export const makeRandomBelow =
  (random: (count: number) => Uint8Array): RandomBelow =>
  below => {
    const limit = 0x1000000 - (0x1000000 % below)
    while (true) {
      const [a = 0, b = 0, c = 0] = random(3)
      const value = a * 65536 + b * 256 + c
      if (value < limit) return value % below
    }
  }

/** A copy in random order (Fisher and Yates). */
export const shuffled = <T>(items: readonly T[], random: RandomBelow): T[] => {
  const mixed = [...items]
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = random(at + 1)
    const held = mixed[at] as T
    mixed[at] = mixed[other] as T
    mixed[other] = held
  }
  return mixed
}

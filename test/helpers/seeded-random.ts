/**
 * Makes the deterministic generator of protocol §1.10, as a drop-in for `Io.random`: one continuous stream.
 *
 * State s, each byte: s = (5·s + 3) mod 256. `seed`: the first state; 0 gives the stream of the vectors.
 */
export const makeSeededRandom = (seed = 0): ((count: number) => Uint8Array) => {
  let state = seed & 0xff
  return count =>
    Uint8Array.from({ length: count }, () => {
      state = (5 * state + 3) & 0xff
      return state
    })
}

import type { Io } from '../io/io.ts'

/** The items in another order, each order as likely as the next; at most 65,536 items. */
export const shuffled = <T>(io: Pick<Io, 'random'>, items: readonly T[]): T[] => {
  const order = [...items]
  const draws = io.random(order.length * 2)
  for (let i = order.length - 1; i > 0; i -= 1) {
    const draw = ((draws[i * 2] ?? 0) << 8) | (draws[i * 2 + 1] ?? 0)
    order.splice(i, 0, ...order.splice(draw % (i + 1), 1))
  }
  return order
}

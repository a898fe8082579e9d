import type { Schema } from 'yup'
import { WalletError } from '../errors/wallet-error.ts'
import type { PendingVoucher } from '../types/login.ts'
import { parse } from './parse.ts'

/** The most logins that one tree may have. */
export const MAX_LOGINS = 1000

const MAX_DEPTH = 8

/** One login of a tree, its children not yet checked. */
export interface LoginNode {
  readonly children?: readonly unknown[]
  readonly pendingVouchers?: readonly PendingVoucher[]
}

/** A checked login with all its children. */
export type WholeLogin<Node extends LoginNode> = Omit<Node, keyof LoginNode> & {
  readonly pendingVouchers: readonly PendingVoucher[]
  readonly children?: readonly WholeLogin<Node>[]
}

/**
 * Checks a login and its children, each against the schema of one login.
 *
 * @throws BAD_REPLY, also for children deeper than 8 levels or more than 1000 in all
 */
export const parseLogins = <Node extends LoginNode>(
  schema: Schema<Node>,
  value: unknown,
  source: string
): WholeLogin<Node> => {
  let count = 0
  const parseNode = (node: unknown, depth: number): WholeLogin<Node> => {
    count += 1
    if (depth > MAX_DEPTH || count > MAX_LOGINS) {
      const rule = `has logins deeper than ${MAX_DEPTH} or more than ${MAX_LOGINS}`
      throw new WalletError('BAD_REPLY', { source, path: 'children', rule })
    }
    const { children, pendingVouchers = [], ...fields } = parse(schema, node, source)
    const parsed = children?.map(child => parseNode(child, depth + 1))
    return { ...fields, pendingVouchers, ...(parsed === undefined ? {} : { children: parsed }) }
  }
  return parseNode(value, 1)
}

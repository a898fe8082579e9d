import type { Schema } from 'yup'
import { WalletError } from '../base/errors.ts'
import { isRecord } from '../base/json.ts'
import type { PendingVoucher } from '../types/login.ts'
import { parse } from './shape.ts'

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
  /** It is a child of which only the names and the box with its key make sense. */
  readonly isOdd?: true
}

/**
 * Checks a login and its children, each against the schema of one login.
 *
 * A child that does not fit never stops its root: it is reduced to what names it, and left out if even that makes no
 * sense.
 *
 * @throws BAD_REPLY for the login itself, and for children deeper than 8 levels or more than 1000 in all
 */
export const parseLogins = <Node extends LoginNode>(
  schema: Schema<Node>,
  value: unknown,
  source: string
): WholeLogin<Node> => {
  checkSize(value, source)
  const parseNode = (node: unknown): WholeLogin<Node> => {
    const { children, pendingVouchers = [], ...fields } = parse(schema, node, source)
    const parsed = children?.flatMap(parseChild)
    return { ...fields, pendingVouchers, ...(parsed === undefined ? {} : { children: parsed }) }
  }
  const parseChild = (node: unknown): WholeLogin<Node>[] => {
    try {
      return [parseNode(node)]
    } catch {
      return oddChild(node)
    }
  }
  const oddChild = (node: unknown): WholeLogin<Node>[] => {
    const { appId, created, loginId, parentBox } = isRecord(node) ? node : {}
    for (const named of [
      { appId, created, loginId, parentBox },
      { appId, created, loginId }
    ]) {
      try {
        return [{ ...parseNode(named), isOdd: true }]
      } catch {}
    }
    return []
  }
  return parseNode(value)
}

/** Counts before anything is parsed, so that no child is parsed for nothing. */
const checkSize = (value: unknown, source: string): void => {
  let level: unknown[] = [value]
  let count = 0
  for (let depth = 1; level.length > 0; depth += 1) {
    count += level.length
    if (depth > MAX_DEPTH || count > MAX_LOGINS) {
      const rule = `has logins deeper than ${MAX_DEPTH} or more than ${MAX_LOGINS}`
      throw new WalletError('BAD_REPLY', { source, path: 'children', rule })
    }
    const below: unknown[] = []
    for (const node of level) {
      const children = isRecord(node) ? node.children : undefined
      if (!Array.isArray(children)) continue
      // One login that names a million is not copied.
      for (const child of children.slice(0, MAX_LOGINS + 1)) below.push(child)
      if (below.length > MAX_LOGINS) break
    }
    level = below
  }
}

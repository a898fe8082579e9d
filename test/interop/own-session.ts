import type { Account, EdgeLoginRequest, Kernel } from '../../kernel/index.ts'
import type { OwnLab } from './own-lab.ts'

/** A running Holdfast and who is logged in. */
export interface OwnSession {
  readonly kernel: Kernel
  readonly folder: string
  readonly lab: OwnLab
  account: Account | undefined
  edgeLogin: EdgeLoginRequest<Account> | undefined
}

/** The account that is logged in. @throws Error if nobody is */
export const ownAccountOf = ({ account }: OwnSession): Account => {
  if (account === undefined) throw new Error('No account is logged in')
  return account
}

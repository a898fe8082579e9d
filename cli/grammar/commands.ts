import type { CommandSpec } from '../command.ts'
import { accountCommands } from './commands/account.ts'
import { fakeCommands } from './commands/fake.ts'
import { helpCommands } from './commands/help.ts'
import { loginCommands } from './commands/login.ts'
import { startCommands } from './commands/start.ts'
import { transactionCommands } from './commands/transactions.ts'
import { walletCommands } from './commands/wallets.ts'

/** Every command, in the order of the help; each is loaded when it is run. */
export const commandSpecs: readonly CommandSpec[] = [
  ...startCommands,
  ...loginCommands,
  ...accountCommands,
  ...walletCommands,
  ...transactionCommands,
  ...fakeCommands,
  ...helpCommands
]

/** The sentence for a group of commands. */
export const groupSummaries: Readonly<Record<string, string>> = {
  account: 'accounts of this device',
  wallets: 'the wallets of the account',
  tx: 'transactions and their notes',
  fake: 'the fake world: servers and chain',
  'fake chain': 'the fake Bitcoin chain'
}

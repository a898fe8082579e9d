import type { CommandSpec } from '../command.ts'
import { accountCommands } from './commands/account.ts'
import { credentialCommands } from './commands/credentials.ts'
import { dataCommands } from './commands/data.ts'
import { deviceCommands } from './commands/devices.ts'
import { devtoolsCommands } from './commands/devtools.ts'
import { fakeCommands } from './commands/fake.ts'
import { helpCommands } from './commands/help.ts'
import { loginCommands } from './commands/login.ts'
import { rateCommands } from './commands/rates.ts'
import { receivingCommands } from './commands/receiving.ts'
import { startCommands } from './commands/start.ts'
import { swapCommands } from './commands/swaps.ts'
import { tokenCommands } from './commands/tokens.ts'
import { transactionCommands } from './commands/transactions.ts'
import { walletChangeCommands } from './commands/wallet-changes.ts'
import { walletCommands } from './commands/wallets.ts'

/** Every command, in the order of the help; each is loaded when it is run. */
export const commandSpecs: readonly CommandSpec[] = [
  ...startCommands,
  ...loginCommands,
  ...accountCommands,
  ...credentialCommands,
  ...deviceCommands,
  ...walletCommands,
  ...walletChangeCommands,
  ...receivingCommands,
  ...tokenCommands,
  ...transactionCommands,
  ...swapCommands,
  ...rateCommands,
  ...dataCommands,
  ...devtoolsCommands,
  ...fakeCommands,
  ...helpCommands
]

/** The sentence for a group of commands. */
export const groupSummaries: Readonly<Record<string, string>> = {
  account: 'accounts, and what opens them',
  'account username': 'the name of the account',
  'account password': 'the password of the account',
  'account pin': 'the PIN of the account',
  'account recovery': 'questions and answers that open the account',
  '2fa': 'codes and approvals for new devices',
  '2fa reset': 'switching two-factor off without a code',
  voucher: 'devices that wait to be approved',
  lobby: 'requests to log in, of other devices and apps',
  wallets: 'the wallets of the account',
  address: 'addresses to receive on',
  uri: 'payment links',
  tokens: 'tokens of wallets and currencies',
  tx: 'transactions and their notes',
  swap: 'changing one currency into another',
  rates: 'exchange rates, and where they come from',
  'rates hints': 'pairs that providers are asked for',
  data: 'what apps keep in the account',
  fake: 'the fake world: servers and chain',
  'fake chain': 'the fake Bitcoin chain',
  'fake net': 'the network of the fake world',
  'fake clock': 'the time of the fake world',
  'fake user': 'who lives in the fake world'
}

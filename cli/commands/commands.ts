import type { CommandSpec } from '../session/command.ts'
import { accountCommands, credentialCommands, loginCommands } from './account-commands.ts'
import { dataCommands } from './data-commands.ts'
import { deviceCommands } from './device-commands.ts'
import { fakeCommands } from './fake-commands.ts'
import { rateCommands } from './rate-commands.ts'
import { receivingCommands } from './receiving-commands.ts'
import { swapCommands } from './swap-commands.ts'
import { tokenCommands } from './token-commands.ts'
import { devtoolsCommands, helpCommands, startCommands } from './tool-commands.ts'
import { transactionCommands } from './transaction-commands.ts'
import { walletChangeCommands, walletCommands } from './wallet-commands.ts'

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

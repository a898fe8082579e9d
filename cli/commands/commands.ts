import type { CommandSpec } from '../session/command.ts'
import { accountCommands, credentialCommands, loginCommands } from './account-commands.ts'
import { agentCommands, programCommands } from './agent-commands.ts'
import { dataCommands } from './data-commands.ts'
import { deviceCommands } from './device-commands.ts'
import { fakeCommands } from './fake-commands.ts'
import { messageCommands } from './message-commands.ts'
import { pluginCommands } from './plugin-commands.ts'
import { policyCommands } from './policy-commands.ts'
import { profileCommands } from './profile-commands.ts'
import { rateCommands } from './rate-commands.ts'
import { receivingCommands } from './receiving-commands.ts'
import { swapCommands } from './swap-commands.ts'
import { tokenCommands } from './token-commands.ts'
import { devtoolsCommands, helpCommands, startCommands } from './tool-commands.ts'
import { coinCommands, transactionCommands } from './transaction-commands.ts'
import { walletChangeCommands, walletCommands } from './wallet-commands.ts'

/** Every command, in the order of the help; each is loaded when it is run. */
export const commandSpecs: readonly CommandSpec[] = [
  ...startCommands,
  ...loginCommands,
  ...agentCommands,
  ...programCommands,
  ...accountCommands,
  ...credentialCommands,
  ...deviceCommands,
  ...walletCommands,
  ...walletChangeCommands,
  ...receivingCommands,
  ...messageCommands,
  ...tokenCommands,
  ...transactionCommands,
  ...coinCommands,
  ...policyCommands,
  ...swapCommands,
  ...rateCommands,
  ...dataCommands,
  ...pluginCommands,
  ...profileCommands,
  ...devtoolsCommands,
  ...fakeCommands,
  ...helpCommands(() => ({ commands: commandSpecs, groups: groupSummaries }))
]

/** The sentence for a group of commands. */
export const groupSummaries: Readonly<Record<string, string>> = {
  agent: 'one process that stays logged in for all commands',
  'agent clients': 'programs that may use the account through holdfast mcp',
  proposals: 'payments that programs propose',
  account: 'accounts and their credentials',
  'account username': 'the name of the account',
  'account password': 'the password of the account',
  'account pin': 'the PIN of the account',
  'account recovery': 'login with recovery questions and answers',
  '2fa': 'codes and approvals for new devices',
  '2fa reset': 'switch two-factor off without a code',
  voucher: 'devices that wait for approval',
  lobby: 'login requests of other devices and apps',
  wallets: 'the wallets of the account',
  address: 'receiving addresses',
  uri: 'payment links',
  message: 'texts that the key of an address signs',
  tokens: 'tokens of wallets and currencies',
  tx: 'transactions and their notes',
  coins: 'the single coins of a wallet',
  plugins: 'currencies, rates, swaps and more, by others',
  profile: 'networks, servers and data, kept apart from each other',
  policy: 'rules about the payments of the account',
  swap: 'exchange one currency for another',
  rates: 'exchange rates and their sources',
  'rates hints': 'pairs that you want rates for',
  data: 'data of apps in the account',
  fake: 'the fake world: servers and chain',
  'fake chain': 'the fake Bitcoin chain',
  'fake net': 'the network of the fake world',
  'fake clock': 'the time of the fake world',
  'fake user': 'the users of the fake world'
}

import type { PluginId, Txid, WalletId } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'
import type { DeclarationsOf } from './declaration.ts'
import { about, count, flag, object, pluginId, positive, txid } from './schema.ts'
import { type ActionHost, walletOf } from './services.ts'
import { walletId } from './spend-review.ts'
import type { FakeWorldControl } from './world-control.ts'

interface FundRequest {
  readonly walletId: WalletId
  readonly nativeAmount: string
}

interface MineRequest {
  readonly pluginId: PluginId
  readonly count: number
}

interface Network {
  readonly isOnline: boolean
}

/** Actions that drive a fake world. Each refuses with NO_WORLD where there is none. */
export interface WorldActions {
  readonly 'world.fund': { readonly in: FundRequest; readonly out: { readonly txid: Txid } }
  readonly 'world.mine': { readonly in: MineRequest; readonly out: { readonly height: number } }
  readonly 'world.network': { readonly in: Network; readonly out: Network }
}

const network = object<Network>({ isOnline: about(flag, 'False while the network of all devices is cut') })

const NOT_FOR_PROGRAMS = { none: 'the fake world is controlled by a person' }

/** Drives the fake world. */
export const worldActions: DeclarationsOf<WorldActions> = {
  'world.fund': {
    title: 'Pay a wallet from the faucet',
    summary: 'In a fake world, pays a wallet from the faucet of its chain.',
    effect: 'changes',
    input: object<FundRequest>({
      walletId,
      nativeAmount: about(positive, 'The amount in native units')
    }),
    output: object<WorldActions['world.fund']['out']>({ txid }),
    async run(services, { walletId: funded, nativeAmount }) {
      const world = worldOf(services)
      const { wallet } = await walletOf(services, funded)
      const { publicAddress } = await wallet.getReceiveAddress()
      return { txid: await world.fund(wallet.currencyInfo.pluginId, publicAddress, nativeAmount) }
    },
    commandLine: ({ walletId: funded, nativeAmount }, names) => {
      const { word, account } = names.walletOf(funded)
      const words = ['fake', 'chain', 'fund', word, names.amountOf(nativeAmount, funded)]
      return { words, flags: { account } }
    },
    faces: {
      cli: { command: 'fake chain fund', own: 'it pays addresses, too, and can confirm the payment' },
      panel: 'wallet-details',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'world.mine': {
    title: 'Mine blocks',
    summary: 'In a fake world, mines blocks on the chain of a currency.',
    effect: 'changes',
    input: object<MineRequest>({
      pluginId: about(pluginId, 'The currency'),
      count: about(count(1, 10_000), 'The number of blocks')
    }),
    output: object<WorldActions['world.mine']['out']>({ height: count(0, Number.MAX_SAFE_INTEGER) }),
    async run(services, { pluginId: mined, count: blocks }) {
      return { height: await worldOf(services).mine(mined, blocks) }
    },
    commandLine: ({ pluginId: mined, count: blocks }) => ({
      words: ['fake', 'chain', 'mine', String(blocks)],
      flags: { currency: mined }
    }),
    faces: {
      cli: { command: 'fake chain mine', own: 'it mines on all chains at once, too' },
      panel: 'account-bar',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'world.network': {
    title: 'Cut or restore the network',
    summary: 'In a fake world, cuts or restores the network of all devices.',
    effect: 'changes',
    input: network,
    output: network,
    async run(services, { isOnline }) {
      await worldOf(services).setOnline(isOnline)
      return { isOnline }
    },
    commandLine: ({ isOnline }) => ({ words: ['fake', 'net', isOnline ? 'online' : 'offline'] }),
    faces: {
      cli: { command: 'fake net offline', own: 'it changes the delay and the loss of replies, too' },
      panel: 'account-bar',
      mcp: NOT_FOR_PROGRAMS
    }
  }
}

const worldOf = ({ world }: ActionHost): FakeWorldControl => {
  if (world === undefined)
    throw new ActionError({ code: 'NO_WORLD', message: 'This kernel does not use a fake world' })
  return world
}

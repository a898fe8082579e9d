import type { ExecutionContext } from 'ava'
import { type KernelActionHandler, makeActionHandler } from '../../app/actions/actions.ts'
import { makeChainControl, makeFakeWorldControl } from '../../fake-server/chain-control.ts'
import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { CurrencyWallet, Kernel, ObserverPlugin, Plugin, QuoteSnapshot } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { litecoin } from '../../plugins/currency/utxo/plugin.ts'
import { coinbase } from '../../plugins/rates/coinbase.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { openDevice, waitFor } from './device.ts'

/** What opens the account of {@link makeRich}, besides the PIN 1234. */
export const PASSWORD = 'correct horse battery'

/** A device in a fake world of its own, and what drives it. */
export interface ActionStage {
  readonly world: FakeWorld
  readonly kernel: Kernel
  readonly runAction: KernelActionHandler
  /** The time of the drafts alone. */
  readonly clock: FakeClock
  /** The newest of what observers heard of each provider, by round and provider. */
  readonly quotes: ReadonlyMap<string, QuoteSnapshot>
  /** A wallet of the account that is logged in. */
  wallet(walletId: string): CurrencyWallet
  /** Another actor for the same kernel. */
  anotherHandler(): KernelActionHandler
}

/** Opens a device with Bitcoin, Litecoin, one source of rates and these plugins. */
export const openStage = async (
  t: ExecutionContext,
  plugins: readonly Plugin[] = []
): Promise<ActionStage> => {
  // What a kernel waits for keeps no process alive, such as the next try after the network was away.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const world = makeFakeWorld({ io: makeNodeIo() })
  const quotes = new Map<string, QuoteSnapshot>()
  const watcher: ObserverPlugin = {
    kind: 'observer',
    id: 'watcher',
    apply: ({ hooks }) =>
      hooks.quoteChanged.tap('watcher', quote => void quotes.set(`${quote.roundId} ${quote.pluginId}`, quote))
  }
  const kernel = await openDevice(world, {
    plugins: [litecoin, coinbase, watcher, ...plugins],
    pluginOptions: fakePluginOptions()
  })
  const clock = makeFakeClock()
  const makeOne = (): KernelActionHandler => {
    const runAction = makeActionHandler({
      context: kernel.context,
      io: { ...makeNodeIo(), clock },
      world: makeFakeWorldControl(makeChainControl(world))
    })
    t.teardown(() => runAction.close())
    return runAction
  }
  const runAction = makeOne()
  t.teardown(async () => {
    await kernel.close()
    await world.close()
  })
  return {
    ...{ world, kernel, runAction, clock, quotes },
    wallet(walletId) {
      const [account] = kernel.context.accounts
      if (account === undefined) throw new Error('No account is logged in')
      return account.wallet(walletId)
    },
    anotherHandler: makeOne
  }
}

/** An account with 0.05 BTC, made by actions alone. */
export const makeRich = async ({
  runAction,
  wallet
}: ActionStage): Promise<{ accountId: string; walletId: string }> => {
  const { accountId } = await runAction('account.create', {
    username: 'alice',
    password: PASSWORD,
    pin: '1234'
  })
  const { walletId } = await runAction('wallet.create', {
    accountId,
    walletType: 'wallet:bitcoin',
    name: 'Savings'
  })
  await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => wallet(walletId).balanceDetailsOf(null).spendable === '5000000')
  // An engine that is paused at once may not have told of it yet.
  await waitFor(async () => (await wallet(walletId).getTransactions()).length === 1)
  return { accountId, walletId }
}

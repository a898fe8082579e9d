import type { ExecutionContext } from 'ava'
import test from 'ava'
import { renderToString } from 'react-dom/server'
import type { DevtoolsClient } from '../../../../devtools/core/client/client.ts'
import { makeDevtools } from '../../../../devtools/core/devtools.ts'
import { makeKernelClient } from '../../../../devtools/core/kernel-client.ts'
import { Panel } from '../../../../devtools/react/frame/panel.tsx'
import { type FakeWorld, makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import { type Kernel, nativeAmount, type Plugin } from '../../../../kernel/index.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { makeToy } from '../../../helpers/toy-currency.ts'

const io = makeNodeIo()

/** A real kernel, and what a panel is told of it. */
const openWatched = async (
  t: ExecutionContext,
  world: FakeWorld,
  plugins: readonly Plugin[] = []
): Promise<{ kernel: Kernel; client: DevtoolsClient }> => {
  const kernel = await openDevice(world, { plugins: [makeDevtools({ clock: io.clock }).plugin, ...plugins] })
  const client = makeKernelClient(kernel)
  t.teardown(async () => {
    client.close()
    await kernel.close()
  })
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  return { kernel, client }
}

/** What the panel says of a wallet, without marks. */
const drawn = (client: DevtoolsClient, id?: string): string =>
  renderToString(
    <Panel
      client={client}
      isLinked={false}
      now={() => io.clock.now()}
      start={{ panel: 'engines', filter: '', ...(id === undefined ? {} : { id }) }}
    />
  )
    .replaceAll('<!-- -->', '')
    .replaceAll(/<[^>]+>/g, '')

test('the details of a balance show what is incoming, and what is reserved for a signed payment', async t => {
  const world = makeFakeWorld({ io })
  const { kernel, client } = await openWatched(t, world)
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '5000000')
  await waitFor(() => drawn(client, wallet.id).includes('of it 0.05 BTC incoming'))
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '5000000')
  await waitFor(() => !drawn(client, wallet.id).includes('of it'))
  await wallet.signTx(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [
        {
          publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
          nativeAmount: nativeAmount('1000000')
        }
      ]
    })
  )
  await waitFor(() => drawn(client, wallet.id).includes('of it 0.05 BTC reserved'))
  t.regex(drawn(client, wallet.id), /Open payments0\.01 BTC to bcrt1q\w+signed, not sent from here/)
})

test('an account opens although a plugin failed, and the wallets of that plugin show its error', async t => {
  const world = makeFakeWorld({ io })
  const user = { username: 'tess', password: 'Correct horse 1' }
  const good = await openDevice(world, { plugins: [makeToy().plugin] })
  const account = await good.context.createAccount(user)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const other = await account.createCurrencyWallet('wallet:bitcoin')
  await account.sync()
  await good.close()
  const broken: Plugin = {
    ...makeToy().plugin,
    apply() {
      throw new Error('The server elektrum.example has no port')
    }
  }
  const { client } = await openWatched(t, world, [broken])
  await client.runAction('account.login', user)
  await waitFor(() => client.view.getSnapshot().engines.size === 2)
  await waitFor(() => client.view.getSnapshot().engines.get(other.id)?.state === 'started')
  t.regex(drawn(client), /failed.*The server elektrum\.example has no port/)
  t.regex(drawn(client, wallet.id), /Last errorThe server elektrum\.example has no portCodePLUGIN_FOR_TYPE/)
  const offered = /Resync.*Receive.*Show an address.*Send.*Review/
  t.regex(drawn(client, other.id), offered)
  t.notRegex(drawn(client, wallet.id), /Resync|Show an address|Review/)
  await t.throwsAsync(client.runAction('wallet.receive', { walletId: wallet.id }), {
    code: 'PLUGIN_FOR_TYPE'
  })
  t.regex((await client.runAction('wallet.receive', { walletId: other.id })).publicAddress, /^bcrt1/)
})

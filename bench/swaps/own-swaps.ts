import { FAKE_ADDRESSES, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  createKernel,
  nativeAmount,
  type QuoteRound,
  type SwapPlugin,
  type SwapRequest,
  WalletError
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { CHEAP_COST } from '../bench-device.ts'
import { COIN } from '../size/bench-coin.ts'
import { makeOwnCoin } from '../size/own-coin.ts'
import { until } from '../wait.ts'
import { amountOf, follow, PROVIDERS, type Script } from './providers.ts'

/** Our account with 50 swap providers. */
export interface OwnSwaps {
  query(): QuoteRound
  close(): Promise<void>
}

/** Opens our kernel in a fake world, with two wallets of the made-up currency. */
export const openOwnSwaps = async (script: Script): Promise<OwnSwaps> => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
  const kernel = await createKernel({
    ...{ authServer, infoServers, syncServers, apiKey: 'bench', logLevel: 'silent' },
    io: world.ioFor(io),
    passwordSnrp: { cost: CHEAP_COST },
    plugins: [
      memoryStorage(),
      makeOwnCoin().plugin,
      ...Array.from({ length: PROVIDERS }, (_, i) => makeProvider(script, i))
    ]
  })
  const account = await kernel.context.createAccount({})
  const fromWallet = await account.createCurrencyWallet(COIN.walletType)
  const toWallet = await account.createCurrencyWallet(COIN.walletType)
  await until([fromWallet], () => fromWallet.balanceOf(null) === COIN.balance)
  const request: SwapRequest = { fromWallet, toWallet, nativeAmount: nativeAmount('1000'), quoteFor: 'from' }
  return {
    query: () => account.openQuoteRound(request),
    async close() {
      await kernel.close()
      await world.close()
    }
  }
}

const makeProvider = (script: Script, i: number): SwapPlugin => {
  const id = `swap${i}`
  return {
    kind: 'swap',
    id,
    displayName: `Swap ${i}`,
    apply({ hooks }) {
      hooks.fetchQuotes.tapPromise(id, context =>
        follow(
          script,
          i,
          () =>
            context.offer({
              fromNativeAmount: nativeAmount('1000'),
              toNativeAmount: nativeAmount(amountOf(i)),
              isEstimate: i % 2 === 0,
              networkFee: nativeAmount('1'),
              expirationDate: new Date(Date.now() + 60_000),
              payment: {
                spends: [
                  {
                    tokenId: null,
                    spendTargets: [{ publicAddress: `bench1q${i}`, nativeAmount: nativeAmount('1000') }]
                  }
                ]
              }
            }),
          () =>
            new WalletError('SWAP_BELOW_LIMIT', {
              pluginId: id,
              nativeMin: String(1000 + i),
              direction: 'from'
            })
        )
      )
    }
  }
}

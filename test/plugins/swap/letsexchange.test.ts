import test from 'ava'
import { letsexchange } from '../../../plugins/swap/letsexchange.ts'
import { type SwapContract, testSwapPlugin } from '../../contracts/swap-plugin.ts'

const contract: SwapContract = {
  plugin: letsexchange,
  options: { apiKey: 'fake-key-7c1f', affiliateId: 'affiliate7' },
  from: 'btc',
  to: 'ltc',
  isFixed: true,
  limits: { from: ['below', 'above'], to: ['below', 'above'] },
  block: ({ world }) => {
    world.swaps.letsexchange.manners.isBlocked = true
  },
  close: ({ world }) => void world.swaps.letsexchange.manners.closed.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.letsexchange.manners.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.letsexchange.manners.driftBasisPoints = 500
  }
}

testSwapPlugin(test, contract)
testSwapPlugin(((title: string, run: never) => test(`${title}, the other way round`, run)) as typeof test, {
  ...contract,
  from: 'ltc',
  to: 'btc'
})

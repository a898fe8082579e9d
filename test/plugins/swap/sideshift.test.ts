import test from 'ava'
import { sideshift } from '../../../plugins/swap/sideshift.ts'
import { type SwapContract, testSwapPlugin } from '../../contracts/swap-plugin.ts'

const contract: SwapContract = {
  plugin: sideshift,
  options: { affiliateId: 'affiliate7', secret: 'secret-7c1f' },
  from: 'btc',
  to: 'ltc',
  isFixed: true,
  limits: { from: ['below', 'above'], to: ['below', 'above'] },
  block: ({ world }) => {
    world.swaps.sideshift.manners.isBlocked = true
  },
  close: ({ world }) => void world.swaps.sideshift.manners.closed.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.sideshift.manners.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.sideshift.manners.driftBasisPoints = 500
  }
}

testSwapPlugin(test, contract)
testSwapPlugin(((title: string, run: never) => test(`${title}, the other way round`, run)) as typeof test, {
  ...contract,
  from: 'ltc',
  to: 'btc'
})

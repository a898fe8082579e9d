import test from 'ava'
import { thorchain } from '../../../plugins/swap/thorchain.ts'
import { type SwapContract, testSwapPlugin } from '../../contracts/swap-plugin.ts'

const contract: SwapContract = {
  plugin: thorchain,
  options: {},
  from: 'btc',
  to: 'ltc',
  isFixed: false,
  limits: { from: ['below'], to: ['below'] },
  close: ({ world }) => void world.swaps.thorchain.manners.halted.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.thorchain.manners.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.thorchain.manners.driftBasisPoints = 500
  }
}

testSwapPlugin(test, contract)

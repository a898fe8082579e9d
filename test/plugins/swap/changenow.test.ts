import test from 'ava'
import { changenow } from '../../../plugins/swap/changenow.ts'
import { type SwapContract, testSwapPlugin } from '../../contracts/swap-plugin.ts'

const contract: SwapContract = {
  plugin: changenow,
  options: { apiKey: 'fake-key-7c1f' },
  from: 'btc',
  to: 'ltc',
  isFixed: true,
  limits: { from: ['below'], to: ['below', 'above'] },
  block: ({ world }) => {
    world.swaps.changenow.manners.isBlocked = true
  },
  close: ({ world }) => void world.swaps.changenow.manners.closed.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.changenow.manners.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.changenow.manners.driftBasisPoints = 500
  }
}

testSwapPlugin(test, contract)
testSwapPlugin(((title: string, run: never) => test(`${title}, the other way round`, run)) as typeof test, {
  ...contract,
  from: 'ltc',
  to: 'btc'
})

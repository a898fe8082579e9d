import { fixWalletType, splitWalletInfo } from '../../../kernel/keys/quirks.ts'
import { eachVector, type GroupCheck, io } from './check.ts'

export const checkFixWalletType: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const before = JSON.stringify(inputs)
  t.deepEqual(fixWalletType(inputs as never), outputs, id)
  t.is(JSON.stringify(inputs), before, id)
})

export const checkSplit: GroupCheck = eachVector((t, { id, inputs: { walletInfo, newType }, outputs }) => {
  const split = splitWalletInfo(io, walletInfo, newType)
  t.deepEqual(split, outputs.walletInfo, id)
  t.deepEqual(splitWalletInfo(io, split, walletInfo.type), walletInfo, id)
})

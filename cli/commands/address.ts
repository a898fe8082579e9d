import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { isMax, parseAmount } from '../output/amounts.ts'
import { qrLines } from '../output/qr.ts'
import { findWallet } from '../session/find-wallet.ts'

/** Shows an address to receive on: the same one until it is used. */
export const address: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const amount = session.text('amount')
  const label = session.text('label')
  if (amount !== undefined && isMax(amount)) throw new CliError('USAGE', 'Ask for an amount, not for max')
  const { publicAddress } = await wallet.getReceiveAddress()
  const uri = await wallet.encodeUri({
    publicAddress,
    ...(amount === undefined ? {} : { nativeAmount: parseAmount(amount, wallet.currencyInfo) }),
    ...(label === undefined ? {} : { label })
  })
  const wantsUri = session.isOn('uri') || amount !== undefined || label !== undefined
  const line = wantsUri ? uri : publicAddress
  const code = session.isOn('qr') ? await qrLines(uri, session.globals.ascii) : []
  return {
    data: { walletId: wallet.id, address: publicAddress, uri },
    view: { kind: 'text', lines: code.length === 0 ? [line] : [...code, '', line] }
  }
}

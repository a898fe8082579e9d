import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { amountJson, amountText, isMax, parseAmount } from '../output/amounts.ts'
import { findWallet } from '../session/find-wallet.ts'
import type { Session } from '../session.ts'

/** Pays from the faucet of the fake chain to a wallet or an address. */
export const fakeChainFund: CommandRun = async (session, target = '', amount = '') => {
  if (isMax(amount)) throw new CliError('USAGE', 'The faucet needs an amount, such as "0.5 BTC"')
  const native = parseAmount(amount, bitcoin.info)
  const address = await addressOf(session, target)
  const { control } = await session.world()
  const txid = await control.fund(address, native)
  const height = session.isOn('confirm') ? await control.mine(1) : undefined
  return {
    data: { txid, address, amount: amountJson(native, bitcoin.info), height: height ?? null },
    view: {
      kind: 'record',
      fields: [
        ['txid', txid],
        ['address', address],
        ['amount', amountText(native, bitcoin.info)],
        [
          'state',
          height === undefined ? { text: 'unconfirmed', tone: 'warn' } : { text: 'confirmed', tone: 'good' }
        ]
      ]
    }
  }
}

// Wallets are named by people or have ids with other letters and lengths; no address is shorter.
const ADDRESS = /^[A-Za-z0-9]{26,90}$/

const addressOf = async (session: Session, target: string): Promise<string> => {
  if (ADDRESS.test(target)) return target
  const wallet = await session.synced(await findWallet(session, target))
  return (await wallet.getReceiveAddress()).publicAddress
}

import type { ChainId } from '../../fake-server/world-chain.ts'
import { amountText, type CurrencyInfo, parseAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { amountJson, isMax } from '../output/amounts.ts'
import { chainOfAddress, namedChain } from '../session/fake-chains.ts'
import { findWallet } from '../session/find-wallet.ts'
import type { Session } from '../session.ts'

/** Pays from the faucet of a fake chain to a wallet or an address. */
export const fakeChainFund: CommandRun = async (session, target = '', amount = '') => {
  if (isMax(amount)) throw new CliError('USAGE', 'The faucet needs an amount, such as "0.5 BTC"')
  const { address, chain } = await payeeOf(session, target)
  const info = await currencyOf(session, chain)
  const native = parseAmount(amount, info)
  const { control } = await session.world()
  const txid = await control.fund(chain, address, native)
  const height = session.isOn('confirm') ? await control.mine(chain, 1) : undefined
  return {
    data: { txid, address, currency: chain, amount: amountJson(native, info), height: height ?? null },
    view: {
      kind: 'record',
      fields: [
        ['txid', txid],
        ['address', address],
        ['amount', amountText(native, info)],
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

const payeeOf = async (
  session: Session,
  target: string
): Promise<{ readonly address: string; readonly chain: ChainId }> => {
  const named = namedChain(session)
  const isAddress = ADDRESS.test(target)
  const wallet = isAddress ? undefined : await session.synced(await findWallet(session, target))
  const address = wallet === undefined ? target : (await wallet.getReceiveAddress()).publicAddress
  const { control } = await session.world()
  return {
    address,
    chain: named ?? (await chainOfAddress(control, address, wallet?.currencyInfo.pluginId))
  }
}

const currencyOf = async (session: Session, chain: ChainId): Promise<CurrencyInfo> => {
  const info = (await session.currencies()).find(({ pluginId }) => pluginId === chain)
  if (info === undefined) throw new CliError('USAGE', `There is no plugin of ${chain}`)
  return info
}

import { LITECOIN_REGTEST } from '../../fake-server/chain/chain-params.ts'
import { serveElectrumTcp } from '../../fake-server/http/electrum-tcp.ts'
import { hasLitecoinNode, startLitecoinNode } from '../../fake-server/node/litecoin-node.ts'
import { NodeChain } from '../../fake-server/node/node-chain.ts'
import type { Io, NativeAmount } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { RunStep, TourChain } from './tour-setup.ts'

/** A chain of a real node, which ends with it. */
export interface NodeTourChain extends TourChain {
  close(): Promise<void>
}

/** Makes sure that there is a node to start. @throws CliError NODE_MISSING */
export const requireLitecoinNode = (): void => {
  if (hasLitecoinNode()) return
  throw new CliError('NODE_MISSING', 'The tour on a real network needs a Litecoin node, and there is none', {
    hint: 'On Debian: apt-get install litecoind. Elsewhere, name the program in HOLDFAST_LITECOIND.'
  })
}

/**
 * Starts Litecoin Core on a private network, with a chain long enough that its coins can be spent, and an Electrum server in
 * front of it, as a wallet needs one.
 */
export const openNodeChain = (step: RunStep, { clock }: Pick<Io, 'clock'>): Promise<NodeTourChain> =>
  step('start-node', 'Start a Litecoin node of your own', async () => {
    const node = await startLitecoinNode()
    try {
      const { call } = node
      const own: string = await call('getnewaddress')
      const payee: string = await call('getnewaddress')
      await call('generatetoaddress', MATURE, own)
      const chain = await NodeChain.open(call, { network: LITECOIN_REGTEST, clock })
      const electrum = await serveElectrumTcp(chain)
      const value: NodeTourChain = {
        ...{ currency: 'Litecoin', walletType: 'wallet:litecoin', payee },
        server: { pluginId: LITECOIN_REGTEST.pluginId, port: electrum.port },
        async fund(address, amount) {
          await node.pay(address, coinsOf(amount))
          await chain.follow()
        },
        async mine() {
          await call('generatetoaddress', 1, own)
          await chain.follow()
        },
        async testify(txid) {
          const { confirmations, vsize } = await call('getrawtransaction', txid, true)
          const received = await call('getreceivedbyaddress', payee)
          const times = confirmations === 1 ? '1 confirmation' : `${confirmations} confirmations`
          return `it received ${received} LTC by these ${vsize} vB, and counts ${times}`
        },
        async close() {
          await electrum.close()
          await chain.close()
          await node.stop()
        }
      }
      const { subversion } = await call('getnetworkinfo')
      const detail = `Litecoin Core ${/:([0-9.]+)/.exec(subversion)?.[1] ?? ''}, ${MATURE} blocks, alone on its network`
      return { value, detail }
    } catch (error) {
      await node.stop()
      throw error
    }
  })

/** The coins of the first block can be spent after a hundred more. */
const MATURE = 101

/** The main unit, as the methods of a node want it. */
const coinsOf = (amount: NativeAmount): number => Number(amount) / 1e8

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LITECOIN_REGTEST } from '../../fake-server/chain/chain-params.ts'
import { ChainState } from '../../fake-server/chain/chain-state.ts'
import { FakeChain } from '../../fake-server/chain/fake-chain.ts'
import { Faucet } from '../../fake-server/chain/faucet.ts'
import { decodeTransaction } from '../../fake-server/chain/transaction.ts'
import { makeNodeIo } from '../../platform/node/index.ts'

// Debian's package; the program in /usr/bin is a wrapper that writes into the home folder.
const PROGRAM = process.env.HOLDFAST_LITECOIND ?? '/usr/lib/litecoin/litecoind'

/** Whether a real Litecoin node is on this machine. */
export const hasLitecoinNode: boolean = existsSync(PROGRAM)

/** A Litecoin Core node on regtest, with a wallet of its own. */
export interface LitecoinNode {
  // biome-ignore lint/suspicious/noExplicitAny: every method of the node answers in another shape
  call(method: string, ...params: readonly unknown[]): Promise<any>
  /** The node's chain as a fake chain, so that engines can reach it by Electrum. */
  copyChain(): Promise<FakeChain>
  stop(): Promise<void>
}

/** Starts a node in a folder of its own and makes its wallet. */
export const startLitecoinNode = async (): Promise<LitecoinNode> => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-litecoin-'))
  const password = randomBytes(16).toString('hex')
  const [rpcPort, port] = await freePorts()
  const options = [
    ...['regtest', `datadir=${folder}`, 'server=1', 'listen=0', 'dnsseed=0', 'upnp=0', 'printtoconsole=0'],
    ...['rpcuser=u', `rpcpassword=${password}`, `rpcport=${rpcPort}`, `port=${port}`, 'fallbackfee=0.0002'],
    // Policy as on mainnet; MWEB would stop the mining at block 432.
    ...['acceptnonstdtxn=0', 'vbparams=mweb:-2:9223372036854775807']
  ]
  const child = spawn(
    PROGRAM,
    options.map(option => `-${option}`),
    { stdio: 'ignore' }
  )
  const call = makeCall(`http://127.0.0.1:${rpcPort}/`, password)
  const node: LitecoinNode = {
    call,
    copyChain: () => copyChain(call),
    async stop() {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined
      await call('stop').catch(() => child.kill('SIGKILL'))
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
  }
  try {
    await untilReady(call, child)
    await call('createwallet', 'test')
    return node
  } catch (error) {
    await node.stop()
    throw error
  }
}

type Call = LitecoinNode['call']

const freePorts = async (): Promise<readonly number[]> => {
  const servers = [createServer(), createServer()]
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const ports = servers.map(server => (server.address() as { port: number }).port)
  for (const server of servers) await once(server.close(), 'close')
  return ports
}

const makeCall =
  (url: string, password: string): Call =>
  async (method, ...params) => {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`u:${password}`).toString('base64')}` },
      body: JSON.stringify({ id: 1, method, params })
    })
    const { result, error } = (await reply.json()) as { result: unknown; error: { message: string } | null }
    if (error !== null) throw new Error(`${method}: ${error.message}`)
    return result
  }

const untilReady = async (call: Call, child: ChildProcess): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    try {
      await call('getblockcount')
      return
    } catch (error) {
      if (child.exitCode !== null || tries > 200) throw error
      await sleep(50)
    }
  }
}

const copyChain = async (call: Call): Promise<FakeChain> => {
  const state = new ChainState(LITECOIN_REGTEST)
  const count: number = await call('getblockcount')
  for (let height = 1; height <= count; height += 1) {
    const hash: string = await call('getblockhash', height)
    const [block, headerHex] = await Promise.all([
      call('getblock', hash, 2),
      call('getblockheader', hash, false)
    ])
    const { version, previousblockhash: previous, merkleroot: merkleRoot, time, nonce } = block
    state.connect({
      ...{ hash, headerHex },
      header: { version, previous, merkleRoot, time, bits: Number.parseInt(block.bits, 16), nonce },
      transactions: block.tx.map(({ hex }: { hex: string }) => decodeTransaction(hex))
    })
  }
  const io = makeNodeIo()
  const faucet = new Faucet(LITECOIN_REGTEST, new Uint8Array(32).fill(1))
  return new FakeChain(state, faucet, { clock: io.clock, random: size => io.random(size) })
}

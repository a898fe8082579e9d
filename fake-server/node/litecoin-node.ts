import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJsonText } from '../../kernel/base/json.ts'

/** The program of a Litecoin Core node: Debian's, or the one that `HOLDFAST_LITECOIND` names. */
const program = (): string => process.env.HOLDFAST_LITECOIND ?? '/usr/lib/litecoin/litecoind'

/** Returns whether a Litecoin Core node is on this computer. The one in `/usr/bin` is a wrapper that writes into the home folder. */
export const hasLitecoinNode = (): boolean => existsSync(program())

/** Calls a method of a node. @throws NodeFault if the node refuses, Error if it cannot be reached */
// biome-ignore lint/suspicious/noExplicitAny: every method of the node answers in another shape
export type NodeCall = (method: string, ...params: readonly unknown[]) => Promise<any>

/** The refusal of a node, by its code and its words. */
export class NodeFault extends Error {
  readonly code: number
  /** The words of the node alone, such as `txn-mempool-conflict`. */
  readonly reason: string

  constructor(method: string, { code, message }: { readonly code: number; readonly message: string }) {
    super(`${method}: ${message}`)
    this.name = 'NodeFault'
    this.code = code
    this.reason = message
  }
}

/** A Litecoin Core node on regtest, with a wallet of its own. */
export interface LitecoinNode {
  /** The methods of the node, and of the wallet with which it starts. */
  readonly call: NodeCall
  /** The address of its RPC, and the file with the login, which it writes at each start. */
  readonly rpc: { readonly origin: string; readonly cookieFile: string }
  /** The methods of another wallet, which `createwallet` has made. */
  wallet(name: string): NodeCall
  /** Pays coins of the node's wallet, in the main unit; gives the txid. */
  pay(address: string, amount: number): Promise<string>
  /** Starts it again on the same blocks, with an empty mempool. */
  restart(): Promise<void>
  /** Ends the node and removes its folder. */
  stop(): Promise<void>
}

/** Options of {@link startLitecoinNode}. */
export interface LitecoinNodeOptions {
  /** True for a node that takes a payment for a dearer one of the same coins; most of the network does not. */
  readonly takesReplacements?: boolean
}

/**
 * Starts a node in a folder of its own and makes its wallet.
 *
 * @throws Error if it ends three times, or does not start within two minutes
 */
export const startLitecoinNode = async (options: LitecoinNodeOptions = {}): Promise<LitecoinNode> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnFreePorts(options)
    } catch (error) {
      // Between the choice of its ports and its start another process may have taken one.
      if (tries === 3 || !(error instanceof EndedAtStart)) throw error
    }
  }
}

const startOnFreePorts = async ({
  takesReplacements = false
}: LitecoinNodeOptions): Promise<LitecoinNode> => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-litecoin-'))
  const [rpcPort, port] = await freePorts()
  const options = [
    ...['regtest', `datadir=${folder}`, 'server=1', 'listen=0', 'dnsseed=0', 'upnp=0', 'printtoconsole=0'],
    ...[`rpcport=${rpcPort}`, `port=${port}`, 'fallbackfee=0.0002', 'persistmempool=0', 'walletbroadcast=0'],
    // Policy as on the main network; MWEB would stop the mining at block 432.
    ...['acceptnonstdtxn=0', 'txindex=1', 'vbparams=mweb:-2:9223372036854775807'],
    ...(takesReplacements ? ['mempoolreplacement=1'] : [])
  ].map(option => `-${option}`)
  const rpc = { origin: `http://127.0.0.1:${rpcPort}`, cookieFile: join(folder, 'regtest/.cookie') }
  const callIn = (wallet: string): NodeCall => makeCall(`${rpc.origin}/${wallet}`, rpc.cookieFile)
  const call = callIn('')
  const mainWallet = callIn('wallet/node')
  let child = spawn(program(), options, { stdio: 'ignore' })
  const end = async (): Promise<void> => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined
    await call('stop').catch(() => child.kill('SIGKILL'))
    await ended
  }
  const node: LitecoinNode = {
    call: mainWallet,
    rpc,
    wallet: name => callIn(`wallet/${name}`),
    async pay(address, amount) {
      // The node sends nothing by itself, so that a payment stays forgotten when a restart has forgotten it.
      const txid: string = await mainWallet('sendtoaddress', address, amount)
      return call('sendrawtransaction', (await mainWallet('gettransaction', txid)).hex)
    },
    async restart() {
      const names: readonly string[] = await call('listwallets')
      await end()
      child = spawn(program(), options, { stdio: 'ignore' })
      await untilReady(call, child)
      const loaded: readonly string[] = await call('listwallets')
      for (const name of names) if (!loaded.includes(name)) await call('loadwallet', name)
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  try {
    await untilReady(call, child)
    await call('createwallet', 'node')
    return node
  } catch (error) {
    await node.stop()
    throw error
  }
}

const freePorts = async (): Promise<readonly number[]> => {
  const servers = [createServer(), createServer()]
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const ports = servers.map(server => (server.address() as { port: number }).port)
  for (const server of servers) await once(server.close(), 'close')
  return ports
}

const makeCall =
  (url: string, cookie: string): NodeCall =>
  async (method, ...params) => {
    // The node writes a new one at each start; a password would stand in its command line.
    const login = Buffer.from(readFileSync(cookie, 'utf8')).toString('base64')
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${login}` },
      body: JSON.stringify({ id: 1, method, params })
    })
    const { result, error } = parseJsonText(await reply.text(), REPLIES) as {
      readonly result: unknown
      readonly error: { readonly code: number; readonly message: string } | null
    }
    if (error !== null) throw new NodeFault(method, error)
    return result
  }

// A block with all that a test pays.
const REPLIES = { maxValues: 10_000_000 }

const untilReady = async (call: NodeCall, child: ChildProcess): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    try {
      await call('getblockcount')
      return
    } catch (error) {
      if (child.exitCode !== null) throw new EndedAtStart(`It ended with ${child.exitCode}`, { cause: error })
      if (tries > 2400) throw error
      await sleep(50)
    }
  }
}

class EndedAtStart extends Error {}

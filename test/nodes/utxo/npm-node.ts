import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type NodeCall, NodeFault } from '../../../fake-server/node/litecoin-node.ts'
import { installNpmFolder } from '../../helpers/npm-folder.ts'

/** The nodes that npm has: of Bitcoin and of Bitcoin Cash. */
export type NpmNodeName = 'bcash' | 'bcoin'

/** A node that runs from npm, on regtest and in memory. */
export interface NpmNode {
  readonly call: NodeCall
  /** The methods of another wallet, which has got its keys. */
  wallet(name: string): NodeCall
  /** Ends its process. */
  stop(): Promise<void>
}

const MANIFEST = 'test/nodes/utxo/npm-nodes'

/** Installs both; gives the reason if that cannot be done. Their scripts compile what a node in memory does not need. */
export const installNpmNodes = async (): Promise<string | undefined> =>
  (await installNpmFolder(MANIFEST)).problem

/** Starts one of them in a process of its own. @throws Error if it does not start */
export const startNpmNode = async (name: NpmNodeName): Promise<NpmNode> => {
  const program = fileURLToPath(new URL('./npm-node-process.js', import.meta.url))
  const { lock } = await installNpmFolder(MANIFEST)
  const child = fork(program, [lock, name], {
    env: { ...process.env, NODE_BACKEND: 'js', BCRYPTO_BACKEND: 'js' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  const calls = openCalls(child)
  await calls.ready
  const callIn =
    (wallet?: string): NodeCall =>
    (method, ...params) =>
      calls.send({ wallet, method, params })
  return {
    call: callIn(),
    wallet: callIn,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  }
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

interface Calls {
  readonly ready: Promise<void>
  send(call: {
    readonly wallet: string | undefined
    readonly method: string
    readonly params: readonly unknown[]
  }): Promise<unknown>
}

const openCalls = (child: ChildProcess): Calls => {
  const open = new Map<number, (answer: Answer) => void>()
  let last = 0
  let said = ''
  child.stderr?.on('data', (text: Buffer) => {
    said = `${said}${text.toString()}`.slice(-2000)
  })
  child.on('message', (answer: Answer) => open.get(answer.id)?.(answer))
  child.on('exit', () => {
    const error = { code: -1, message: `the node has ended: ${said}` }
    for (const [id, settle] of open) settle({ id, error })
  })
  const settled = (id: number, method: string): Promise<unknown> =>
    new Promise((resolve, reject) =>
      open.set(id, ({ result, error }) => {
        open.delete(id)
        if (error === undefined) resolve(result)
        else reject(new NodeFault(method, error))
      })
    )
  return {
    ready: settled(0, 'start').then(() => {}),
    send: call => {
      last += 1
      const answer = settled(last, call.method)
      if (child.connected) child.send({ id: last, ...call })
      else open.get(last)?.({ id: last, error: { code: -1, message: `the node has ended: ${said}` } })
      return answer
    }
  }
}

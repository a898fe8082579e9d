import { type ChildProcess, execFile, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type NodeCall, NodeFault } from '../../../fake-server/node/litecoin-node.ts'

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

const MANIFEST = join(process.cwd(), 'test/nodes/utxo/npm-nodes')
const BUILD = join(process.cwd(), '.build')
const LOCK = 'package-lock.json'

/** Where they are installed: a folder for each version of the lock file, which is there once it is whole. */
const folderOf = (): string => {
  const version = createHash('sha256')
    .update(readFileSync(join(MANIFEST, LOCK)))
    .digest('hex')
  return join(BUILD, `npm-nodes-${version.slice(0, 16)}`)
}

/**
 * Installs both below `.build`, as their lock file pins them, without their install scripts: these compile what a node in memory
 * does not need. Once for each version of the lock file; gives the reason if it cannot be done.
 *
 * The test files run beside each other: each installs into a folder of its own, and the first to end gives the place its name.
 */
export const installNpmNodes = (): Promise<string | undefined> => {
  installing ??= install()
  return installing
}

let installing: Promise<string | undefined> | undefined

const install = async (): Promise<string | undefined> => {
  const folder = folderOf()
  if (existsSync(folder)) return undefined
  mkdirSync(BUILD, { recursive: true })
  const own = mkdtempSync(join(BUILD, 'npm-nodes-new-'))
  try {
    for (const file of ['package.json', LOCK]) copyFileSync(join(MANIFEST, file), join(own, file))
    const args = [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--fetch-retries=1'
    ]
    const problem = await new Promise<string | undefined>(resolve =>
      execFile('npm', args, { cwd: own, timeout: 240_000 }, (error, stdout, stderr) =>
        resolve(error === null ? undefined : `npm could not install them: ${stderr || stdout}`.slice(0, 500))
      )
    )
    if (problem === undefined && !existsSync(folder)) renameSync(own, folder)
    return problem
  } catch (error) {
    if (existsSync(folder)) return undefined
    throw error
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/** Starts one of them in a process of its own. @throws Error if it does not start */
export const startNpmNode = async (name: NpmNodeName): Promise<NpmNode> => {
  const program = fileURLToPath(new URL('./npm-node-process.js', import.meta.url))
  const child = fork(program, [join(folderOf(), LOCK), name], {
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

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio'
import { CfWorkerJsonSchemaValidator as ValidatorV2 } from '@modelcontextprotocol/client/validators/cf-worker'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CfWorkerJsonSchemaValidator as ValidatorV1 } from '@modelcontextprotocol/sdk/validation/cfworker'
import type { ExecutionContext } from 'ava'
import type { AgentServer } from '../../cli/agent/agent-server.ts'
import { type ClientRun, runAsClient } from './agent-client.ts'
import { openTestAgent, type TestAgentOptions } from './agents.ts'
import { homeFor, MAIN, type Ran } from './command-line.ts'

/** The published clients: the old line, the new one as it is, and the new one with the newest protocol. */
export const sdks = ['v1', 'v2', 'v2 auto'] as const
export type Sdk = (typeof sdks)[number]

/** A tool as a client sees it. */
export interface ListedTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: object
  readonly outputSchema?: object
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean }
}

/** The answer of a tool. */
export interface ToolAnswer {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: assertions look at any shape
  readonly structuredContent?: any
}

/** A program that is connected to `holdfast mcp` in a process of its own. */
export interface Program {
  tools(): Promise<readonly ListedTool[]>
  call(name: string, args?: object, signal?: AbortSignal): Promise<ToolAnswer>
  close(): Promise<void>
  /** Resolves when the other side has closed the connection. */
  readonly closed: Promise<void>
}

/** An agent with an open account, for programs. */
export interface ProgramStage {
  readonly home: string
  readonly agent: AgentServer
  run(args: readonly string[], options?: ClientRun): Promise<Ran>
  /** Adds a client. @returns the path of its token */
  addClient(name: string, ...flags: readonly string[]): Promise<string>
  connect(
    tokenFile: string,
    options?: { readonly sdk?: Sdk; readonly flags?: readonly string[] }
  ): Promise<Program>
}

export const PASSWORD = 'correct horse battery staple'
export const PIN = '246813'

/** Opens an agent in this process, with alice's account. */
export const openProgramStage = async (
  t: ExecutionContext,
  options: Pick<TestAgentOptions, 'onAgent' | 'plugins'> = {}
): Promise<ProgramStage> => {
  const home = homeFor(t)
  const agent = await openTestAgent({ home, ...options })
  t.teardown(() => agent.close())
  const run: ProgramStage['run'] = (args, how) => runAsClient(home, args, how)
  const made = await run(['account', 'create', 'alice', '--secrets-stdin', '--json'], {
    input: JSON.stringify({ password: PASSWORD, pin: PIN })
  })
  if (made.code !== 0) throw new Error(made.stdout)
  return {
    ...{ home, agent, run },
    async addClient(name, ...flags) {
      const path = join(home, `${name}.token`)
      const added = await run(['agent', 'clients', 'add', name, '-o', path, ...flags])
      if (added.code !== 0) throw new Error(added.stderr)
      return path
    },
    async connect(tokenFile, { sdk = 'v2', flags = [] } = {}) {
      const program = await connectProgram(home, tokenFile, { sdk, flags })
      t.teardown(() => program.close())
      return program
    }
  }
}

/** Creates a wallet with play money in it. @returns its id */
export const fundedWallet = async (
  { run }: Pick<ProgramStage, 'run'>,
  name: string,
  amount = '0.5'
): Promise<string> => {
  const made = await run(['wallets', 'create', 'bitcoin', '--name', name, '--json'])
  if (made.code !== 0) throw new Error(made.stdout)
  await run(['fake', 'chain', 'fund', name, amount])
  await run(['fake', 'chain', 'mine', '1'])
  return made.json.data.wallet.id
}

const connectProgram = async (
  home: string,
  tokenFile: string,
  { sdk, flags }: { readonly sdk: Sdk; readonly flags: readonly string[] }
): Promise<Program> => {
  const server = {
    command: process.execPath,
    args: [MAIN, 'mcp', '--client-file', tokenFile, ...flags],
    env: { PATH: process.env.PATH ?? '', HOLDFAST_HOME: home, TZ: 'UTC' },
    stderr: 'pipe' as const
  }
  const who = { name: 'test', version: '1' }
  let onClosed = (): void => {}
  const closed = new Promise<void>(resolve => {
    onClosed = resolve
  })
  if (sdk === 'v1') {
    const client = new ClientV1(who, { jsonSchemaValidator: new ValidatorV1() })
    client.onclose = onClosed
    const transport = new TransportV1(server)
    await client.connect(transport as unknown as Parameters<ClientV1['connect']>[0])
    return {
      closed,
      tools: async () => (await client.listTools()).tools as readonly ListedTool[],
      call: async (name, args = {}, signal) =>
        (await client.callTool({ name, arguments: { ...args } }, undefined, {
          ...(signal === undefined ? {} : { signal })
        })) as unknown as ToolAnswer,
      close: () => client.close()
    }
  }
  const client = new ClientV2(who, {
    // The other one makes code of schemas, which these tests do not let anything do.
    jsonSchemaValidator: new ValidatorV2(),
    ...(sdk === 'v2' ? {} : { versionNegotiation: { mode: 'auto' } })
  })
  client.onclose = onClosed
  await client.connect(new TransportV2(server))
  return {
    closed,
    tools: async () => (await client.listTools()).tools as readonly ListedTool[],
    call: async (name, args = {}, signal) =>
      (await client.callTool(
        { name, arguments: { ...args } },
        signal === undefined ? {} : { signal }
      )) as unknown as ToolAnswer,
    close: () => client.close()
  }
}

/** The paths and contents of all files below a folder. */
export const filesBelow = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [path, readFileSync(path, 'base64')])
  )

/** The first facts of a wallet that {@link argumentsFor} needs. */
export const factsOf = async (
  { run }: Pick<ProgramStage, 'run'>,
  walletId: string
): Promise<Pick<ArgumentFacts, 'accountId' | 'txid' | 'walletId'>> => {
  const { accounts } = (await run(['agent', 'status', '--json'])).json.data
  const { transactions } = (await run(['tx', 'list', walletId, '--json'])).json.data
  return { walletId, accountId: accounts[0].loginId, txid: transactions[0].txid }
}

/** Facts of an account from which arguments of its tools are made. */
export interface ArgumentFacts {
  readonly accountId: string
  readonly walletId: string
  /** A wallet of another currency, for swaps. */
  readonly otherWalletId?: string
  /** One of its transactions. */
  readonly txid: string
  readonly payee: string
  readonly proposalId: string
}

interface ArgumentSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, ArgumentSchema>>
  readonly required?: readonly string[]
}

/**
 * Makes valid arguments for a tool: what has a meaning comes from the account, the rest from the schema.
 *
 * @param isFull - with the optional ones
 */
export const argumentsFor = (
  { inputSchema }: ListedTool,
  facts: ArgumentFacts,
  isFull = false
): Record<string, unknown> => {
  const { properties = {}, required = [] } = inputSchema as ArgumentSchema
  const names = Object.keys(properties).filter(name => isFull || required.includes(name))
  return Object.fromEntries(
    names
      .filter(name => !LEFT_OUT.has(name))
      .map(name => [name, valueFor(name, properties[name] ?? {}, facts)])
  )
}

/** They need something that there is not. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...[
    'tokenId',
    'fromTokenId',
    'toTokenId',
    'coins',
    'biases',
    'replaces',
    'disabled',
    'promoCodes',
    'waitMs'
  ]
])

const valueFor = (name: string, schema: ArgumentSchema, facts: ArgumentFacts): unknown => {
  const known: Readonly<Record<string, unknown>> = {
    ...{ walletId: facts.walletId, fromWalletId: facts.walletId },
    toWalletId: facts.otherWalletId ?? facts.walletId,
    ...{ payee: facts.payee, publicAddress: facts.payee, amount: '0.001 BTC', nativeAmount: '5000' },
    ...{ uri: facts.payee, id: facts.proposalId, accountId: facts.accountId, txid: facts.txid },
    ...{ pluginId: 'bitcoin', preferPluginId: 'changenow' },
    ...{ before: facts.txid, from: 'BTC', to: 'LTC', waitSeconds: 0, offset: 0, limit: 5 },
    ...{ customFee: { satPerByte: '5' }, memos: [{ type: 'text', value: 'a' }], notes: { name: 'a' } },
    ...{ fiatCurrencyCode: 'iso:EUR', keyOptions: { format: 'bip84' } }
  }
  if (Object.hasOwn(known, name)) return known[name]
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, schema.minimum ?? 1)
  if (schema.type === 'boolean') return false
  return 'a'
}

import { PassThrough, Readable } from 'node:stream'
import { runByAgent } from '../../cli/agent/client.ts'
import { compact } from '../../kernel/base/compact.ts'
import { TEST_VERSION } from './agents.ts'
import type { Ran } from './command-line.ts'

/** How a command in an agent differs from the plain one. */
export interface ClientRun {
  readonly input?: string
  readonly signal?: AbortSignal
  readonly version?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly answerMs?: number
  /** Standard input that stays open, in place of `input`. */
  readonly stdin?: Readable
  /** Standard input brings the keys of a terminal, and standard error is its screen. */
  readonly isOnTerminal?: boolean
  onOutput?(text: string): void
}

/** Runs a command in the agent of a home; fails if none took it. */
export const runAsClient = async (
  home: string,
  argv: readonly string[],
  {
    input = '',
    signal = new AbortController().signal,
    version = TEST_VERSION,
    environment = {},
    answerMs,
    stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]),
    isOnTerminal = false,
    onOutput
  }: ClientRun = {}
): Promise<Ran> => {
  const outputs = { stdout: '', stderr: '' }
  const collect = (name: keyof typeof outputs): NodeJS.WriteStream => {
    const stream = new PassThrough()
    stream.setEncoding('utf8').on('data', (text: string) => {
      outputs[name] += text
      onOutput?.(text)
    })
    return stream as unknown as NodeJS.WriteStream
  }
  const terminal = {
    stdin: Object.assign(stdin, isOnTerminal ? KEYBOARD : {}) as unknown as NodeJS.ReadStream,
    stdout: collect('stdout'),
    stderr: Object.assign(collect('stderr'), isOnTerminal ? SCREEN : {}),
    environment: { HOLDFAST_HOME: home, ...environment }
  }
  const code = await runByAgent({ argv, terminal, signal, version, ...compact({ answerMs }) })
  if (code === undefined) throw new Error('No agent took the command')
  return {
    ...outputs,
    code,
    get json() {
      return JSON.parse(outputs.stdout)
    }
  }
}

const KEYBOARD = { isTTY: true as const, setRawMode: () => undefined }
const SCREEN = { isTTY: true as const, columns: 80, rows: 24 }

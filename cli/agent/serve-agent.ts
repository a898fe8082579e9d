import { compact, type KernelOptions, type Plugin } from '../../kernel/index.ts'
import type { Session } from '../session/session.ts'
import { AgentServer, type RunCommandLine } from './agent-server.ts'
import { versionOf } from './client.ts'

/** Options of {@link serveAgent}. */
export interface ServeAgentOptions {
  readonly idleMs: number
  readonly runCli: RunCommandLine
  readonly plugins: readonly Plugin[]
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  readonly payingGraceMs?: number
}

/** Runs the agent of the session's profile in this process, until it is told to stop or the session is stopped. */
export const serveAgent = async (session: Session, options: ServeAgentOptions): Promise<void> => {
  const { paths, terminal, signal } = session
  const { idleMs, runCli, plugins, passwordSnrp, payingGraceMs } = options
  // Ink decides about colours once for all clients; those who want none get none.
  process.env.FORCE_COLOR = '1'
  const server = await AgentServer.open({
    paths,
    environment: terminal.environment,
    io: await session.io(),
    runCli,
    version: versionOf(),
    idleMs,
    plugins,
    ...compact({ passwordSnrp, payingGraceMs })
  })
  const stop = (): void => void server.close()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await session.print({
    data: { pid: process.pid, socket: server.socket },
    view: { kind: 'text', lines: [`The agent is running (process ${process.pid})`] }
  })
  process.send?.('ready')
  await server.closed
}

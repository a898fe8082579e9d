import { type Account, WalletError } from '../../../kernel/index.ts'
import { isAlive } from '../../../plugins/storage/file/file-lock.ts'
import { readRecord } from '../../agent/agent-files.ts'
import { CliError } from '../../errors/cli-error.ts'
import { failureOf } from '../../errors/failure.ts'
import { parseDuration } from '../../grammar/options.ts'
import { actionTools } from '../../mcp/action-tools.ts'
import { paymentTools } from '../../mcp/payment-tools.ts'
import { type ProgramTool, serveTools } from '../../mcp/serve-tools.ts'
import { type ProgramClient, ProgramClients, readTokenFile } from '../../programs/clients.ts'
import { ProgramLog } from '../../programs/programs.ts'
import type { CommandRun } from '../../session/command.ts'
import { methodBySecret } from '../../session/log-in.ts'
import type { Session } from '../../session/session.ts'
import { packageFolder } from '../../terminal/package-folder.ts'

const DEFAULT_LIFE = '10m'

/**
 * Serves a program over standard input and output, until it goes, is revoked, or its time is over.
 *
 * In the agent it uses the account while that is open, and never asks for a secret. Without an agent it needs a secret by a flag, and
 * only reads.
 */
export const mcp: CommandRun = async session => {
  const { agent, terminal, paths, signal } = session
  const path = session.text('clientFile')
  if (path === undefined) {
    throw new CliError('USAGE', 'Name the file with the token of the program: --client-file <file>', {
      next: [{ command: 'holdfast agent clients add <name> --scope read -o <file>', why: 'make a token' }]
    })
  }
  const lifeMs = parseDuration(session.text('expires') ?? DEFAULT_LIFE)
  const clients = new ProgramClients(paths.session)
  const client = clients.find(await readTokenFile(path))
  agent?.stayIdle()
  const account = await accountFinder(session, client)
  const mayPropose = client.scopes.some(scope => scope === 'propose' || scope === 'spend')
  const forActions = await actionTools({ session, client, account })
  const tools: readonly ProgramTool[] = [
    ...forActions.tools,
    ...(agent !== undefined && mayPropose
      ? paymentTools({ session, client, account, lifeMs, proposals: agent.programs.proposals })
      : [])
  ]
  const log = new ProgramLog(paths.session)
  const connection = agent?.programs.connect(client)
  await clients.noteUse(client)
  log.add({ client: client.name, event: 'connect', decision: 'ok' })
  try {
    await serveTools({
      tools,
      stdin: terminal.stdin,
      stdout: terminal.stdout,
      version: packageFolder()?.version ?? 'unknown',
      signal: connection === undefined ? signal : AbortSignal.any([signal, connection.signal]),
      checkClient: () => void clients.check(client),
      onCall: (tool, decision) => log.add({ client: client.name, event: 'call', tool: tool.name, decision }),
      onProblem: error => session.statusLine.warn(`a message of the program: ${failureOf(error).code}`)
    })
  } finally {
    connection?.leave()
    forActions.close()
  }
  connection?.signal.throwIfAborted()
  return undefined
}

/**
 * Returns a function that gives the account of a client.
 *
 * @throws CliError AGENT_NOT_RUNNING without an agent and a secret; CLIENT_REFUSED for a secret of another account
 */
const accountFinder = async (session: Session, client: ProgramClient): Promise<() => Account> => {
  const loggedOut = (): WalletError => new WalletError('LOGGED_OUT', {})
  if ((await methodBySecret(session.secrets)) === undefined) {
    if (session.agent === undefined) throw noAgent(session)
    await session.context()
    return () => {
      const open = session.openAccount(client.loginId)
      if (open === undefined) throw loggedOut()
      return open
    }
  }
  const own = await session.account()
  if (own.id !== client.loginId) {
    throw new CliError('CLIENT_REFUSED', 'The client is of another account', {
      hint: `Add --account ${client.username ?? client.loginId}.`
    })
  }
  return () => {
    if (!own.isLoggedIn) throw loggedOut()
    return own
  }
}

const noAgent = ({ paths }: Session): CliError => {
  const record = readRecord(paths.state)
  const isThere = record !== undefined && isAlive(record.pid)
  return new CliError(
    'AGENT_NOT_RUNNING',
    isThere ? 'The agent does not run this command' : 'No agent is running, which has the account open',
    {
      hint: 'Programs that only read can also do without: add --pin-file or another secret.',
      next: [
        { command: 'holdfast agent start', why: 'start the agent' },
        { command: 'holdfast agent unlock', why: 'log in, once' }
      ]
    }
  )
}

import { ageText } from '../../../app/format/times.ts'
import { isAlive } from '../../../plugins/storage/file/file-lock.ts'
import { readRecord } from '../../agent/agent-files.ts'
import { type StartedAgent, startAgent } from '../../agent/start-agent.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseDuration } from '../../grammar/options.ts'
import { localTime } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import type { Agent } from '../../session/agent.ts'
import type { CommandRun } from '../../session/command.ts'
import { chooseMethod, findTarget, logInBy } from '../../session/log-in.ts'
import type { Session } from '../../session/session.ts'

const DEFAULT_IDLE_MS = 15 * 60_000

const idleOf = (session: Session): number => {
  const text = session.text('idle')
  if (text === undefined) return DEFAULT_IDLE_MS
  return text === 'never' ? 0 : parseDuration(text)
}

const lingerOf = (session: Session): number => {
  const text = session.text('linger')
  return text === undefined || text === 'never' ? 0 : parseDuration(text)
}

/** Starts the agent in a process of its own, and waits until it listens; one that runs stays until it is stopped. */
export const agentStart: CommandRun = async session => {
  const idleMs = idleOf(session)
  const { agent, globals, paths, terminal, flags, signal } = session
  if (agent !== undefined) {
    agent.stay(flags.idle === undefined ? undefined : idleMs)
    return startedResult({ pid: agent.status.pid, isNew: false })
  }
  const started = startedResult(
    await startAgent({
      profile: globals.profile,
      stateFolder: paths.state,
      environment: terminal.environment,
      flags: flags.idle === undefined ? [] : ['--idle', idleMs === 0 ? 'never' : `${idleMs}ms`],
      signal
    })
  )
  if (globals.agent || flags.agent === false) return started
  return { ...started, advice: ['The commands here do not use it, since HOLDFAST_NO_AGENT is set'] }
}

const startedResult = ({ pid, isNew }: StartedAgent): CommandResult => ({
  data: { running: true, pid, started: isNew },
  view: {
    kind: 'text',
    lines: [
      isNew ? `The agent has started (process ${pid})` : `The agent is already running (process ${pid})`
    ]
  },
  advice: isNew ? ['Log in once with: holdfast agent unlock'] : []
})

/** Runs the agent in this process. */
export const agentRun: CommandRun = async session => {
  const idleMs = idleOf(session)
  if (session.agent !== undefined) {
    throw new CliError('AGENT_RUNNING', `The agent is already running (process ${session.agent.status.pid})`)
  }
  await session.serveAgent({ idleMs, lingerMs: lingerOf(session) })
  return undefined
}

const NOT_RUNNING: CommandResult = {
  data: { running: false },
  view: { kind: 'text', lines: ['No agent is running'] },
  advice: ['Start it with: holdfast agent start']
}

/** Stops the agent; without one, there is nothing to do. */
export const agentStop: CommandRun = async session => {
  const { agent } = session
  if (agent === undefined) return unreachable(session) ?? { ...NOT_RUNNING, advice: [] }
  agent.stop()
  const { pid } = agent.status
  return {
    data: { running: false, pid },
    view: { kind: 'text', lines: [`The agent stops (process ${pid})`] }
  }
}

/** Shows the agent and the accounts that are open in it. */
export const agentStatus: CommandRun = async session => {
  const { agent } = session
  if (agent === undefined) return unreachable(session) ?? NOT_RUNNING
  const { pid, started, idleMs, lingerMs } = agent.status
  const commands = agent.status.commands - 1
  const accounts = await openAccounts(agent)
  const { connectionCount: programs, proposals } = agent.programs
  const waiting = proposals.list().filter(({ state }) => state === 'waiting').length
  return {
    data: {
      ...{ running: true, pid, started, idleMs, lingerMs, commands, programs },
      waitingProposals: waiting,
      accounts: [...accounts]
    },
    view: {
      kind: 'record',
      fields: [
        ['process', String(pid)],
        ['running since', localTime(new Date(started))],
        ['locks after', idleMs === 0 ? 'never' : `${ageText(idleMs / 1000)} without a command`],
        [
          'ends',
          lingerMs === 0
            ? 'with holdfast agent stop'
            : `after ${ageText(lingerMs / 1000)} without an open account or a command`
        ],
        ['running commands', commands === 0 ? 'none besides this one' : `${commands} besides this one`],
        ['programs', programs === 0 ? 'none' : `${programs} connected`],
        ...(waiting === 0
          ? []
          : [
              [
                'proposals',
                { text: `${waiting} wait for you: holdfast proposals list`, tone: 'strong' }
              ] as const
            ]),
        [
          'open accounts',
          accounts.map(({ username, loginId }) => username ?? loginId).join(', ') || 'none: locked'
        ]
      ]
    }
  }
}

/** Each open account once, however often it is logged in. */
const openAccounts = async (
  agent: Agent
): Promise<readonly { readonly loginId: string; readonly username: string | null }[]> => {
  const byId = new Map<string, string | null>()
  for (const { id, username } of await agent.accounts()) byId.set(id, username ?? null)
  return [...byId].map(([loginId, username]) => ({ loginId, username }))
}

/** Explains an agent that has a record and a process but does not run this command; undefined if there is none. */
const unreachable = ({ paths, globals, flags }: Session): undefined => {
  const record = readRecord(paths.state)
  if (record === undefined || !isAlive(record.pid)) return undefined
  if (flags.agent === false) {
    throw new CliError('USAGE', 'This command speaks to the agent: leave out --no-agent')
  }
  if (!globals.agent) {
    throw new CliError('USAGE', 'This command speaks to the agent, which HOLDFAST_NO_AGENT keeps it from', {
      hint: 'Run it with HOLDFAST_NO_AGENT=0, or unset the variable.'
    })
  }
  throw new CliError('AGENT_REFUSED', `The agent (process ${record.pid}) does not answer; it may be ending`)
}

/** Closes every open account of the agent. */
export const agentLock: CommandRun = async session => {
  const { agent } = session
  if (agent === undefined) return unreachable(session) ?? { ...NOT_RUNNING, advice: [] }
  const accounts = await openAccounts(agent)
  await agent.lock()
  return {
    data: { locked: accounts.map(({ loginId }) => loginId) },
    view: {
      kind: 'text',
      lines: [accounts.length === 0 ? 'The agent was locked already' : 'The agent is locked; it has no keys']
    }
  }
}

/** Logs in once, so that the agent keeps the account open. */
export const agentUnlock: CommandRun = async session => {
  if (session.agent === undefined) {
    unreachable(session)
    throw new CliError('AGENT_NOT_RUNNING', 'No agent is running, so no account can stay open', {
      next: [{ command: 'holdfast agent start', why: 'start the agent' }]
    })
  }
  const context = await session.context()
  const target = findTarget(session, context)
  const method = await chooseMethod(session, target)
  const account = session.keepAccount(await logInBy(method, { session, context, target }))
  const { id, username } = account
  const { idleMs } = session.agent.status
  const until = idleMs === 0 ? 'until you lock it' : `until ${ageText(idleMs / 1000)} pass without a command`
  return {
    data: { loginId: id, username: username ?? null, open: session.isKept(account) },
    view: {
      kind: 'text',
      lines: [
        session.isKept(account)
          ? `${target.name} is open in the agent ${until}`
          : `${target.name} is not open in the agent`
      ]
    }
  }
}

import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { LOGIN_OR_RECOVERY, WITH } from './flags.ts'

const IDLE: CommandFlag = {
  flags: '--idle <duration>',
  summary: 'lock after so long without a command, such as 15m (default), or never'
}

/** The agent of a profile. */
export const agentCommands: readonly CommandSpec[] = [
  {
    name: 'agent start',
    summary: 'start the agent: it stays logged in, and runs the commands of this profile',
    example: 'agent start --idle 1h',
    flags: [IDLE],
    load: async () => (await import('./agent/control-agent.ts')).agentStart
  },
  {
    name: 'agent run',
    summary: 'run the agent in this terminal until it is stopped',
    flags: [IDLE],
    isServer: true,
    load: async () => (await import('./agent/control-agent.ts')).agentRun
  },
  {
    name: 'agent stop',
    summary: 'stop the agent, after the payments in flight',
    load: async () => (await import('./agent/control-agent.ts')).agentStop
  },
  {
    name: 'agent status',
    readsOnly: true,
    summary: 'show whether the agent runs, and which accounts are open in it',
    load: async () => (await import('./agent/control-agent.ts')).agentStatus
  },
  {
    name: 'agent lock',
    summary: 'close the accounts that are open in the agent, so that it has no keys',
    load: async () => (await import('./agent/control-agent.ts')).agentLock
  },
  {
    name: 'agent unlock',
    summary: 'log in once, so that later commands need no secret',
    example: 'agent unlock --with pin',
    flags: [WITH],
    secrets: LOGIN_OR_RECOVERY,
    load: async () => (await import('./agent/control-agent.ts')).agentUnlock
  }
]

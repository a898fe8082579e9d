import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, LOGIN_OR_RECOVERY, WITH } from './flags.ts'

const IDLE: CommandFlag = {
  flags: '--idle <duration>',
  summary: 'lock after so long without a command, such as 15m (default), or never'
}

const LINGER: CommandFlag = {
  flags: '--linger <duration>',
  summary: 'end after so long without an open account or a command, such as 1m; default: never'
}

const clients: readonly CommandSpec[] = [
  {
    name: 'agent clients add',
    arguments: '<name>',
    summary: 'let a program use this account through holdfast mcp; it gets a token',
    example: 'agent clients add helper --scope propose --until 30d -o helper.token',
    flags: [
      {
        flags: '--scope <scope>',
        summary:
          'read; change what can be changed back; propose payments, which a person approves; spend what a policy allows it',
        choices: ['read', 'change', 'propose', 'spend'],
        isRepeatable: true
      },
      { flags: '--wallet <wallet>', summary: 'only this wallet; default: all', isRepeatable: true },
      { flags: '--until <end>', summary: 'how long, such as 12h or 30d (default), or a date' },
      { flags: '-o, --output <file>', summary: 'write the token to a new file that only its owner can read' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./agent/manage-clients.ts')).clientsAdd
  },
  {
    name: 'agent clients list',
    readsOnly: true,
    summary: 'list the programs that may use this profile',
    load: async () => (await import('./agent/manage-clients.ts')).clientsList
  },
  {
    name: 'agent clients revoke',
    arguments: '<name>',
    summary: 'refuse a program from now on; its connections end at once',
    load: async () => (await import('./agent/manage-clients.ts')).clientsRevoke
  },
  {
    name: 'agent clients log',
    readsOnly: true,
    arguments: '[name]',
    summary: 'show what programs did',
    flags: [{ flags: '--limit <count>', summary: 'the number of lines; 50 by default' }],
    load: async () => (await import('./agent/manage-clients.ts')).clientsLog
  }
]

/** Programs: their connection, and the payments that they propose. */
export const programCommands: readonly CommandSpec[] = [
  {
    name: 'mcp',
    startsNoAgent: true,
    summary: 'serve a program (MCP) over standard input and output, with the token of agent clients add',
    example: 'mcp --client-file helper.token',
    flags: [
      { flags: '--client-file <file>', summary: 'the private file with the token' },
      { flags: '--expires <duration>', summary: 'how long a proposal waits for an answer; 10m by default' }
    ],
    secrets: ANY_LOGIN,
    isServer: true,
    load: async () => (await import('./agent/mcp.ts')).mcp
  },
  {
    name: 'proposals list',
    readsOnly: true,
    summary: 'list the payments that programs propose',
    flags: [{ flags: '--all', summary: 'those that were answered, too' }],
    load: async () => (await import('./agent/review-proposals.ts')).proposalsList
  },
  {
    name: 'proposals show',
    readsOnly: true,
    arguments: '<id>',
    summary: 'show a proposal',
    load: async () => (await import('./agent/review-proposals.ts')).proposalsShow
  },
  {
    name: 'proposals approve',
    startsNoAgent: true,
    arguments: '<id>',
    summary: 'review a proposal, then sign and send it; a person has to be at the terminal',
    flags: [WITH],
    secrets: ANY_LOGIN,
    load: async () => (await import('./agent/review-proposals.ts')).proposalsApprove
  },
  {
    name: 'proposals decline',
    arguments: '<id>',
    summary: 'refuse a proposal',
    load: async () => (await import('./agent/review-proposals.ts')).proposalsDecline
  }
]

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
    flags: [IDLE, LINGER],
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
  },
  ...clients
]

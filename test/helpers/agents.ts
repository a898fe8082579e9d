import { AgentServer } from '../../cli/agent/agent-server.ts'
import { versionOf } from '../../cli/agent/client.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { runCli } from '../../cli/run.ts'
import type { Agent } from '../../cli/session/agent.ts'
import type { Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { CHEAP_SNRP } from './device.ts'
import { MAIN } from './main-file.ts'

/** True if the tests of the command line run through an agent: `HOLDFAST_TEST_AGENT=1`. */
export const usesAgent: boolean = process.env.HOLDFAST_TEST_AGENT === '1'

/** In place of `test` for what only a process of its own can show. */
export const leaveOut = (_title: string, _run: unknown): void => {}

/** The version of the command line as a process, which the agents and clients of a test have, too. */
export const TEST_VERSION: string = versionOf(MAIN)

/** How a test's agent differs from the plain one. */
export interface TestAgentOptions {
  readonly home: string
  readonly profile?: string
  readonly idleMs?: number
  readonly lingerMs?: number
  readonly version?: string
  readonly plugins?: readonly Plugin[]
  readonly payingGraceMs?: number
  /** Receives the agent, as commands see it, with each command, which waits for it. */
  onAgent?(agent: Agent): Promise<void> | void
}

/** Starts an agent in this process, with passwords that are cheap to check. */
export const openTestAgent = ({
  home,
  profile = 'default',
  idleMs = 0,
  lingerMs = 0,
  version = TEST_VERSION,
  plugins = [],
  payingGraceMs = 2 ** 31 - 1,
  onAgent = () => {}
}: TestAgentOptions): Promise<AgentServer> => {
  const environment = { HOLDFAST_HOME: home }
  // An agent draws for its clients, whatever its own environment says.
  process.env.CI = 'true'
  return AgentServer.open({
    paths: profilePaths(profile, environment),
    environment,
    io: makeNodeIo(),
    async runCli(options) {
      await onAgent(options.agent)
      return runCli(options)
    },
    version,
    idleMs,
    lingerMs,
    plugins,
    passwordSnrp: CHEAP_SNRP,
    payingGraceMs
  })
}

const agents = new Map<string, Promise<AgentServer>>()

/** The agent of a home and profile, which the first command starts. */
export const agentOf = (home: string, profile: string): Promise<AgentServer> => {
  const key = `${home} ${profile}`
  const known = agents.get(key)
  if (known !== undefined) return known
  const agent = openTestAgent({ home, profile })
  agents.set(key, agent)
  return agent
}

/** Ends the agents of a home, or all. */
export const closeAgents = async (home?: string): Promise<void> => {
  for (const [key, agent] of agents) {
    if (home !== undefined && !key.startsWith(`${home} `)) continue
    agents.delete(key)
    await (await agent).close()
  }
}

// Loaded here: scripts use these helpers, too, and ava runs in its own processes only.
if (usesAgent) (await import('ava')).default.after.always(() => closeAgents())

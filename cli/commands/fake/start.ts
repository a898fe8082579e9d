import { chainIds } from '../../../fake-server/chain/open-chain.ts'
import { serveFakeWorld } from '../../../fake-server/http/serve-fake-world.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount } from '../../grammar/options.ts'
import {
  findRunningWorld,
  forgetRunningWorld,
  openLocalWorld,
  recordRunningWorld
} from '../../profile/open-world.ts'
import { notFake } from '../../profile/real-world.ts'
import { readProfile } from '../../profile/settings.ts'
import { localControl, serveControl } from '../../profile/world-control.ts'
import type { CommandRun } from '../../session/command.ts'

/** Serves the fake world of the profile to other processes until it is stopped. */
export const fakeStart: CommandRun = async session => {
  const { paths } = session
  const real = readProfile(paths)
  if (real !== undefined) throw notFake(paths.name, real.network)
  const running = await findRunningWorld(paths.state)
  if (running !== undefined) {
    throw new CliError(
      'PROFILE_INVALID',
      `The fake world of this profile is already running (process ${running.pid})`
    )
  }
  const port = session.text('port')
  const httpPort = port === undefined ? 0 : parseCount(port, 'port', [1, 65_535])
  const { world, close } =
    (await session.agentWorld()) ??
    (await openLocalWorld(paths, { holder: session.holder, io: await session.io() }))
  try {
    const served = await serveFakeWorld(world, { httpPort }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
      throw new CliError('USAGE', `The port ${httpPort} cannot be used (${error.code})`, { cause: error })
    })
    const control = await serveControl(localControl(world))
    try {
      const { authServer, infoServers, syncServers, electrumServers, chainServers } = served
      const addresses = { authServer, infoServers, syncServers, chainServers }
      const { url, token } = control
      recordRunningWorld(paths.state, { pid: process.pid, ...addresses, control: { url, token } })
      await session.print({
        data: { pid: process.pid, height: world.chain.height, ...addresses, electrumServers },
        view: {
          kind: 'record',
          fields: [
            ['login server', authServer],
            ['sync server', syncServers.join(' ')],
            ...chainIds.flatMap((id): [string, string][] => [
              [`${id} chain`, chainServers[id].join(' ')],
              [`${id} height`, String(world.chains[id].height)]
            ])
          ]
        }
      })
      session.statusLine.info('Stop with Ctrl-C. Commands of this profile use this world while it runs.')
      await new Promise<void>(resolve =>
        session.signal.addEventListener('abort', () => resolve(), { once: true })
      )
    } finally {
      forgetRunningWorld(paths.state)
      await control.close()
      await served.close()
    }
  } finally {
    await close()
  }
  return undefined
}

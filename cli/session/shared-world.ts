import { CliError } from '../errors/cli-error.ts'
import { commandInProfile } from '../grammar/command-line.ts'
import { FIRST_DEVICE } from '../profile/paths.ts'
import type { Session } from './session.ts'

/** Makes sure that other devices can answer this command. @throws CliError WORLD_NOT_SHARED if its fake world is its own */
export const requireSharedWorld = async (session: Session): Promise<void> => {
  if ((await session.world()).isShared) return
  const { profile, usualProfile } = session.globals
  throw new CliError(
    'WORLD_NOT_SHARED',
    'No other device can approve: the fake world runs only for this command',
    {
      hint: 'Serve it in another terminal; then every device of the profile uses it.',
      next: [
        {
          command: commandInProfile({ profile, usualProfile, device: FIRST_DEVICE }, 'fake start'),
          why: 'serve the world until it is stopped'
        }
      ]
    }
  )
}

import { compact } from '../base/compact.ts'
import { withDeadline } from '../base/deadline.ts'
import { WalletError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import type { FetchReply } from '../io/io.ts'
import type { Services } from '../plugins/services.ts'
import { type AppInfo, parseAppInfo } from '../schema/lobby.ts'
import { causeOfFetch } from './server.ts'

/** The display name and images of an app, for the person who approves its login. The addresses are those of images. */
export interface AppDisplay {
  readonly displayName: string
  readonly displayImageDarkUrl?: string
  readonly displayImageLightUrl?: string
}

/**
 * Asks one of the info servers for the name and the images of an app (protocol §2.8).
 *
 * The app's id is its name where the server knows no other, and where it cannot be asked, which is reported.
 */
export const fetchAppDisplay = async (
  services: Pick<Services, 'io' | 'config' | 'report'>,
  appId: string
): Promise<AppDisplay> => {
  const { infoServers } = services.config
  const server = infoServers[(services.io.random(1)[0] ?? 0) % infoServers.length]
  if (server === undefined) return { displayName: appId }
  try {
    const url = `${server}/v1/appIdInfo/${encodeURIComponent(appId)}`
    const what = 'The info server'
    const deadline = { clock: services.io.clock, milliseconds: TIMEOUT_MS, what }
    const fetched = withDeadline<FetchReply>(deadline, () => services.io.fetch(url))
    const { status, text } = await fetched.catch((error: unknown) => Promise.reject(causeOfFetch(error)))
    if (status === 404) return { displayName: appId }
    if (status < 200 || status > 299) throw new WalletError('SERVER', { message: `HTTP ${status}` })
    return displayOf(parseAppInfo(parseJson(text, 'app info')))
  } catch (error) {
    services.report('app info', error)
    return { displayName: appId }
  }
}

const TIMEOUT_MS = 30_000

const displayOf = ({ appName, imageUrl, darkImageUrl, lightImageUrl }: AppInfo): AppDisplay => {
  const [dark, light] = [darkImageUrl ?? imageUrl, lightImageUrl ?? imageUrl]
  return {
    displayName: appName,
    ...compact({ displayImageDarkUrl: dark, displayImageLightUrl: light })
  }
}

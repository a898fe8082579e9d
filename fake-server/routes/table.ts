import { credentialRoutes } from './credentials.ts'
import { infoRoutes, questionRoutes } from './info.ts'
import { lobbyRoutes } from './lobby.ts'
import { loginRoutes } from './login.ts'
import { messageRoutes } from './messages.ts'
import { otpRoutes } from './otp.ts'
import type { Route } from './route.ts'
import { storeRoutes } from './store.ts'
import { usernameRoutes } from './username.ts'

/** A route that fits a path. */
export interface MatchedRoute {
  readonly methods: Route['methods']
  /** The part of the path at each `*`. */
  readonly parts: readonly string[]
  /** False for the sync and info servers, which know no API key. */
  readonly needsApiKey: boolean
}

/**
 * Finds the route of a path: an exact match, with one optional slash at the end; a query makes a path unknown
 * (protocol §2.10).
 */
export const findRoute = (path: string): MatchedRoute | undefined => {
  const segments = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  if (path.includes('?') || path.includes('#') || segments.length > MAX_SEGMENTS) return undefined
  for (const { pattern, methods, needsApiKey } of TABLE) {
    if (pattern.length !== segments.length) continue
    const isFit = pattern.every((want, at) => (want === '*' ? segments[at] !== '' : want === segments[at]))
    if (isFit) return { methods, needsApiKey, parts: segments.filter((_, at) => pattern[at] === '*') }
  }
  return undefined
}

/** All routes, for documentation and tests. */
export const allRoutes: readonly Route[] = [
  ...loginRoutes(),
  ...credentialRoutes(),
  ...otpRoutes(),
  ...usernameRoutes(),
  ...messageRoutes(),
  ...questionRoutes(),
  ...lobbyRoutes(),
  ...storeRoutes(),
  ...infoRoutes()
]

const MAX_SEGMENTS = 10

const TABLE = allRoutes.map(({ path, methods }) => ({
  pattern: path.split('/'),
  methods,
  needsApiKey: path.startsWith('/api/') && !path.startsWith('/api/v2/store/')
}))

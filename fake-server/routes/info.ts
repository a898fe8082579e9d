import { jsonReply, unknownEndpoint } from '../replies.ts'
import type { Handler, Route } from '../route.ts'

/** The info servers, which do not use the login envelope (protocol §2.8). */
export const infoRoutes = (): readonly Route[] => [
  { path: '/v1/edgeServers', methods: { GET: listServers } },
  { path: '/v1/appIdInfo/*', methods: { GET: describeApp } }
]

const listServers: Handler = ({ servers }) => jsonReply(200, servers)

// An app that nobody registered is answered as the deployed test server answers for every app.
const describeApp: Handler = ({ db, parts: [name = ''] }) => {
  const app = db.app(decoded(name))
  return app === undefined ? unknownEndpoint(`/v1/appIdInfo/${name}`) : jsonReply(200, app)
}

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

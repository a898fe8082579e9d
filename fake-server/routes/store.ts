import { objectOf, parse } from '../../kernel/schema/shape.ts'
import { plainBox, type RepoChanges, repoChanges, type Shape } from '../accounts/shapes.ts'
import { type FakeReply, jsonReply } from '../base/replies.ts'
import type { Handler, Route, RouteCall } from './route.ts'

/** The sync server, which does not use the login envelope (protocol §2.9). */
export const storeRoutes = (): readonly Route[] => [
  { path: '/api/v2/store/*', methods: { GET: read, POST: update } },
  { path: '/api/v2/store/*/*', methods: { GET: read, POST: update } }
]

const updateShape: Shape<{ changes: RepoChanges }> = objectOf<{ changes: RepoChanges }>({
  changes: repoChanges()
})

const read: Handler = ({ db, parts: [key = '', hash] }) => {
  const repo = db.repo(key)
  return repo === undefined ? unknownRepo() : jsonReply(200, repo.since(hash))
}

const update: Handler = call => {
  const {
    db,
    parts: [key = '', hash]
  } = call
  const changes = changesOf(call)
  const repo = db.repo(key)
  if (repo === undefined) return unknownRepo()
  const news = repo.novelties(changes)
  if (news === undefined) return jsonReply(507, { success: false, message: 'The repo is full' })
  // An upload that says nothing new makes no revision, so that devices do not wake each other for ever.
  if (Object.keys(news).length > 0) db.commit(key, news)
  const answer = repo.since(hash)
  return jsonReply(200, { changes: { ...answer.changes, ...echoOf(changes, repo.files) }, hash: repo.hash })
}

const changesOf = ({ body }: RouteCall): RepoChanges => {
  const { changes } = parse(updateShape, body, 'changes')
  return Object.fromEntries(
    Object.entries(changes).map(([path, content]) => [path, content === null ? null : plainBox(content)])
  )
}

/** The reply always includes the sent files: the client takes it as the merged result. */
const echoOf = (
  changes: RepoChanges,
  files: ReadonlyMap<string, { readonly content: RepoChanges[string] }>
): RepoChanges =>
  Object.fromEntries(Object.keys(changes).map(path => [path, files.get(path)?.content ?? null]))

const unknownRepo = (): FakeReply => jsonReply(404, { msg: 'Hash not found' })

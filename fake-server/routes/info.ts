import { envelope, jsonReply, unknownEndpoint } from '../base/replies.ts'
import type { Handler, Route } from './route.ts'

/** The info servers, which do not use the login envelope (protocol §2.8). */
export const infoRoutes = (): readonly Route[] => [
  { path: '/v1/edgeServers', methods: { GET: listServers } },
  { path: '/v1/appIdInfo/*', methods: { GET: describeApp } }
]

const listServers: Handler = ({ servers }) => jsonReply(200, servers)

// An unregistered app is answered as the deployed test server answers for every app.
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

/** Suggested recovery questions, of each category (specification §3 "Recovery question choice"). */
export const questionRoutes = (): readonly Route[] => [
  { path: '/api/v1/questions', methods: { POST: listChoices } }
]

/** One suggestion; `min_length` counts letters of the answer. */
interface QuestionChoice {
  readonly min_length: number
  readonly category: 'address' | 'must' | 'numeric' | 'recovery2' | 'string'
  readonly question: string
}

const CHOICES: readonly QuestionChoice[] = [
  { category: 'recovery2', min_length: 4, question: 'What was the name of your first pet?' },
  { category: 'recovery2', min_length: 4, question: 'Who was your favourite teacher?' },
  { category: 'recovery2', min_length: 4, question: 'What was the first concert that you heard?' },
  { category: 'must', min_length: 4, question: 'What is the first name of your oldest friend?' },
  { category: 'string', min_length: 4, question: 'What was your first job?' },
  { category: 'string', min_length: 4, question: 'In which town did your parents meet?' },
  {
    category: 'numeric',
    min_length: 4,
    question: 'What were the last digits of your first telephone number?'
  },
  { category: 'address', min_length: 8, question: 'What was the address of the house where you grew up?' }
]

const listChoices: Handler = () => envelope('success', { results: CHOICES })

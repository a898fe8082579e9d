import { envelope } from '../replies.ts'
import type { Handler, Route } from '../route.ts'

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

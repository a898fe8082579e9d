import type { Schema } from 'yup'
import type { Box } from '../types/keys.ts'
import type { RecoveryQuestionChoice } from '../types/login.ts'
import { finite, listOf, objectOf, optionalBox, parse, text } from './shape.ts'

const CATEGORIES = ['address', 'must', 'numeric', 'recovery2', 'string'] as const

const isCategory = (value: unknown): value is RecoveryQuestionChoice['category'] =>
  CATEGORIES.some(category => category === value)

/** Gives the box with the questions of an account, if it has any (protocol §2.4). @throws BAD_REPLY */
export const parseQuestionBox = (results: unknown): Box | undefined =>
  parse(asQuestionReply, results, 'recovery reply').question2Box

/** Checks what a box of questions holds. @throws BAD_REPLY */
export const parseQuestions = (value: unknown): readonly string[] =>
  parse(asQuestions, value, 'recovery questions')

/**
 * Checks the questions that the server suggests (protocol §2.4). One of a category that this version does not know is
 * left out.
 *
 * @throws BAD_REPLY
 */
export const parseQuestionChoices = (results: unknown): readonly RecoveryQuestionChoice[] =>
  parse(asChoices, results, 'recovery question choices').flatMap(({ category, min_length, question }) =>
    isCategory(category) ? { category, minLength: min_length, question } : []
  )

/** A suggestion as the server spells it. */
interface WireChoice {
  readonly category: string
  readonly min_length: number
  readonly question: string
}

const asQuestionReply: Schema<{ question2Box: Box | undefined }> = objectOf<{
  question2Box: Box | undefined
}>({ question2Box: optionalBox() })

const asQuestions: Schema<string[]> = listOf<string>(text())

const asChoices: Schema<WireChoice[]> = listOf<WireChoice>(
  objectOf<WireChoice>({ category: text(), min_length: finite(), question: text() })
)

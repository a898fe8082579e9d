import type { PaletteEntry } from './palette-entries.ts'

/**
 * How well an entry answers to what was typed; 0 for not at all. Each word must be found: best at the start of a title,
 * then at the start of one of its words, then anywhere in it, then in the rest, then letter by letter (pure).
 */
export const scoreEntry = ({ kind, title, detail }: PaletteEntry, query: string): number => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  let sum = 1
  for (const word of words) {
    const score = scoreWord(word, title.toLowerCase(), `${kind} ${detail}`.toLowerCase())
    if (score === 0) return 0
    sum += score
  }
  return sum
}

/** The best answers first, equals in the order that they had (pure). */
export const bestEntries = (
  entries: readonly PaletteEntry[],
  query: string,
  limit: number
): readonly PaletteEntry[] =>
  entries
    .map(entry => ({ entry, score: scoreEntry(entry, query) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ entry }) => entry)

const scoreWord = (word: string, title: string, rest: string): number => {
  if (title.startsWith(word)) return 40
  if (title.split(/[^\p{L}\p{N}]+/u).some(part => part.startsWith(word))) return 30
  if (title.includes(word)) return 20
  if (rest.includes(word)) return 10
  return holdsLetters(word, title) ? 2 : 0
}

/** Whether the letters stand in a text in their order, with others between. */
const holdsLetters = (word: string, text: string): boolean => {
  let from = 0
  for (const letter of word) {
    const at = text.indexOf(letter, from)
    if (at < 0) return false
    from = at + letter.length
  }
  return true
}

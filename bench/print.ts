import type { Goal, Row, SectionResult } from './section.ts'

/** The figures of one section as text, with what was missed said plainly. */
export const textOfSection = (title: string, { rows, notes }: SectionResult): string => {
  const width = Math.max(...rows.map(({ name }) => name.length))
  return [
    '',
    title,
    '-'.repeat(title.length),
    `${''.padEnd(width)}  ${'CPU'.padStart(9)}  ${'wall'.padStart(9)}`,
    ...rows.flatMap(row => linesOfRow(row, width)),
    ...notes.flatMap(note => wrapped(note))
  ].join('\n')
}

/** A number with three significant digits, and no more than it needs. */
export const shortNumber = (value: number): string =>
  Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

const linesOfRow = ({ name, cpuMs, wallMs, facts = {}, goals = [] }: Row, width: number): string[] => {
  const line = `${name.padEnd(width)}  ${time(cpuMs).padStart(9)}  ${time(wallMs).padStart(9)}`
  const details = Object.entries(facts).map(([label, value]) => {
    return `${label}: ${typeof value === 'number' ? shortNumber(value) : value}`
  })
  const detail = details.length === 0 ? [] : [`    ${details.join(', ')}`]
  return [line, ...detail, ...goals.map(goal => `    ${textOfGoal(goal)}`)]
}

const textOfGoal = ({ text, measured, isMet }: Goal): string =>
  `${isMet ? 'met   ' : 'MISSED'}  goal: ${text}; measured: ${shortNumber(measured)}`

const time = (ms: number | undefined): string => {
  if (ms === undefined) return '–'
  return ms < 1 ? `${shortNumber(ms * 1000)} µs` : `${shortNumber(ms)} ms`
}

const WIDTH = 100

const wrapped = (note: string): string[] => {
  const lines: string[] = []
  let line = '*'
  for (const word of note.split(' ')) {
    if (line.length + word.length >= WIDTH) {
      lines.push(line)
      line = ' '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

import { stripVTControlCharacters } from 'node:util'

/** Breaks a line between words where it is wider than the terminal; colours count for nothing. */
export const wrapText = (text: string, width: number): string => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line].join('\n')
}

const widthOf = (text: string): number => stripVTControlCharacters(text).length

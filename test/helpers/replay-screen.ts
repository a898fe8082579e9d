/**
 * What a terminal shows after it was sent some text: its lines, without styles.
 *
 * Knows what screens of the command line are drawn with: lines, the cursor up, down and to a column, and erasing. Anything
 * else that looks like a sequence is skipped. Nothing scrolls: a picture that is replayed must fit.
 */
export const replayScreen = (text: string): readonly string[] => {
  const lines: string[] = ['']
  let [row, column] = [0, 0]
  const lineAt = (at: number): string => lines[at] ?? ''
  const write = (letters: string): void => {
    const line = lineAt(row).padEnd(column)
    lines[row] = line.slice(0, column) + letters + line.slice(column + letters.length)
    column += letters.length
  }
  const moves: Readonly<Record<string, (count: number) => void>> = {
    A: count => {
      row = Math.max(0, row - Math.max(1, count))
    },
    B: count => {
      row += Math.max(1, count)
    },
    E: count => {
      row += Math.max(1, count)
      column = 0
    },
    F: count => {
      row = Math.max(0, row - Math.max(1, count))
      column = 0
    },
    G: count => {
      column = Math.max(0, count - 1)
    },
    K: count => {
      lines[row] = count === 2 ? '' : lineAt(row).slice(0, column)
    },
    J: () => {
      lines[row] = lineAt(row).slice(0, column)
      lines.length = row + 1
    }
  }
  for (const [, sequence, end = '', letters = '', control = ''] of text.matchAll(TOKEN)) {
    if (sequence !== undefined) moves[end]?.(Number(sequence.replace(/\D/g, '')))
    else if (letters !== '') write(letters)
    else if (control === '\r') column = 0
    else if (control === '\n') {
      row += 1
      column = 0
    }
    while (lines.length <= row) lines.push('')
  }
  return lines.map(line => line.trimEnd())
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a screen is drawn with
const TOKEN = /\u001b\[([?\d;]*)([A-Za-z])|([^\u0000-\u001f]+)|([\u0000-\u001f])/g

import { readdirSync, readFileSync } from 'node:fs'

/** One fenced block of a page: its language, the words after it, and the text between the fences. */
export interface Block {
  readonly page: string
  readonly language: string
  /** From `file=…` after the language: where the text is quoted from. */
  readonly file: string | undefined
  /** From `run=…` after the language: what prints the text. */
  readonly run: string | undefined
  readonly text: string
}

/** The Markdown pages that people read, by path from the project's root. */
export const readPages = (): ReadonlyMap<string, string> => {
  const paths = ['.', 'docs', 'docs/adr', 'docs/hooks'].flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('.md'))
      .map(name => (folder === '.' ? name : `${folder}/${name}`))
  )
  return new Map(paths.map(path => [path, readFileSync(path, 'utf8')]))
}

/** The fenced blocks of a page, in order. */
export const blocksOf = (page: string, text: string): readonly Block[] =>
  [...text.matchAll(/^```([a-z]*)[ \t]*([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', words = '', body = '']) => ({
      page,
      language,
      file: /(?:^|\s)file=(\S+)/.exec(words)?.[1],
      run: /(?:^|\s)run=(\S+)/.exec(words)?.[1],
      text: body
    })
  )

/** The code spans of a page outside its fenced blocks. */
export const spansOf = (text: string): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)

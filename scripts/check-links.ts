import { posix } from 'node:path'
import type { FileTexts } from './project-files.ts'

/**
 * Finds links in Markdown files that lead nowhere: to a missing file, or to a missing heading (pure).
 *
 * @param pages - the Markdown files
 * @param exists - tells whether the project has a file or folder of that path
 */
export const checkLinks = (pages: FileTexts, exists: (path: string) => boolean): readonly string[] => {
  const problems = pages.size === 0 ? ['no Markdown file was read'] : []
  for (const [path, text] of pages) {
    for (const [, target = ''] of withoutCode(text).matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)) {
      if (/^[a-z][a-z+.-]*:/i.test(target)) continue
      const [file = '', heading] = target.split('#')
      const where = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file))
      if (where.startsWith('../') || !exists(where)) {
        problems.push(`${path}: ${target} does not exist`)
      } else if (
        heading !== undefined &&
        pages.has(where) &&
        !headingsOf(pages.get(where) ?? '').has(heading)
      ) {
        problems.push(`${path}: ${target} names a heading that does not exist`)
      }
    }
  }
  return problems
}

const withoutCode = (text: string): string =>
  text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '')

/** The anchors that common viewers make from headings. */
const headingsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#{1,6}\s+(.+)$/gm)].map(([, title = '']) =>
      title
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-')
    )
  )

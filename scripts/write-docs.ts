import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { apiTags, RELEASED_API, readApi } from './api-report.ts'
import { generatedPages, stalePages } from './docs.ts'

const root = process.cwd()
const pages = generatedPages(root)
const stale = stalePages(root, pages)
for (const [path, page] of pages) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, page)
}
for (const line of stale) console.log(`wrote ${line.split(' ')[0]}`)
// At a release: later changes are compared with the API as it is now.
if (process.argv.includes('released')) writeFileSync(RELEASED_API, apiTags(readApi(root)))

import { writeFileSync } from 'node:fs'
import { generatedPages, stalePages } from './docs.ts'

const root = process.cwd()
const pages = generatedPages(root)
const stale = stalePages(root, pages)
for (const [path, page] of pages) writeFileSync(path, page)
for (const line of stale) console.log(`wrote ${line.split(' ')[0]}`)

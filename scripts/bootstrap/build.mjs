import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run.mjs'

const stampPath = root => join(root, 'dist/.build-stamp')
const SOURCE = /\.(?:[cm]?tsx?|html|css)$/
const EMITTED = /\.(d\.ts|js|js\.map)$/

/** Tells whether `dist` was emitted from the sources as they are now. */
export const isBuilt = root => {
  try {
    return readFileSync(stampPath(root), 'utf8') === stampOf(root)
  } catch {
    return false
  }
}

/**
 * Compiles every source and drops what was emitted from sources that are gone; gives the exit code.
 *
 * `quiet` keeps back the compiler's findings, for tasks that report them themselves. Code is emitted even
 * when the types do not check, but then the stamp is not written and the next run tries again.
 */
export const build = async (root, { quiet = false } = {}) => {
  const before = stampOf(root)
  // The compiler trusts its notes, not the folder: after a build that did not end well, it starts afresh.
  if (!existsSync(stampPath(root))) rmSync(join(root, 'dist/.tsbuildinfo'), { force: true })
  rmSync(stampPath(root), { force: true })
  for (const step of steps) {
    const { code, output } = await step(root)
    if (code !== 0) {
      if (!quiet) console.error(output.trimEnd())
      return code
    }
  }
  writeFileSync(stampPath(root), before)
  return 0
}

const compile = async root => {
  mkdirSync(join(root, 'dist'), { recursive: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const result = await runQuietly(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: root })
  // Also after an error: a test whose source is gone must not run.
  dropOrphans(root)
  return result
}

const bundle = async root => {
  try {
    // Not at the top: it needs the packages, which may not be installed when this file is read.
    const { bundleCli } = await import('../bundle-cli.mjs')
    await bundleCli(join(root, 'dist'))
    return { code: 0, output: '' }
  } catch (error) {
    return { code: 1, output: `the command line could not be bundled: ${error.stack}` }
  }
}

const bundleEntries = async root => {
  try {
    const { bundleLib } = await import('../bundle-lib.mjs')
    await bundleLib(join(root, 'dist'))
    return { code: 0, output: '' }
  } catch (error) {
    return { code: 1, output: `the entries of the package could not be bundled: ${error.stack}` }
  }
}

const pages = async root => {
  try {
    const { buildPages } = await import('../build-pages.mjs')
    await buildPages(join(root, 'dist'))
    return { code: 0, output: '' }
  } catch (error) {
    return { code: 1, output: `the pages of the devtools could not be built: ${error.stack}` }
  }
}

const steps = [compile, bundle, bundleEntries, pages]

const dropOrphans = root => {
  for (const room of roomsOf(root)) {
    for (const path of filesUnder(join(root, 'dist'), room)) {
      const stem = path.replace(EMITTED, '')
      if (stem === path) continue
      if (!existsSync(join(root, `${stem}.ts`)) && !existsSync(join(root, `${stem}.tsx`))) {
        rmSync(join(root, 'dist', path), { force: true })
      }
    }
  }
}

/** Changes with the name, size or time of any source: also when one is deleted, or older than before. */
const stampOf = root => {
  const hash = createHash('sha256')
  for (const name of ['tsconfig.json', 'package-lock.json', 'package.json']) {
    hash.update(readFileSync(join(root, name)))
  }
  const scripts = ['bundle-cli', 'bundle-lib', 'bundle-cell-frame', 'bundled-licenses', 'build-pages'].map(
    name => `../${name}.mjs`
  )
  for (const script of [import.meta.url, ...scripts]) {
    hash.update(readFileSync(new URL(script, import.meta.url)))
  }
  for (const room of roomsOf(root)) {
    for (const path of filesUnder(root, room)) {
      if (!SOURCE.test(path)) continue
      const { size, mtimeMs } = statSync(join(root, path))
      hash.update(`${path}\0${size}\0${mtimeMs}\n`)
    }
  }
  return hash.digest('hex')
}

const roomsOf = root => JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).include

const filesUnder = (root, folder) => {
  const paths = []
  for (const entry of entriesOf(join(root, folder))) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) paths.push(...filesUnder(root, path))
    else paths.push(path)
  }
  return paths.sort()
}

const entriesOf = folder => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])

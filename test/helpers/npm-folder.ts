import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Packages that a test installs, or the reason why that cannot be done. */
export interface NpmFolder {
  /** The lock file in the folder where they are. */
  readonly lock: string
  readonly problem: string | undefined
}

const BUILD = join(process.cwd(), '.build')
const LOCK = 'package-lock.json'

const installing = new Map<string, Promise<NpmFolder>>()

/**
 * Installs packages below `.build`, as the lock file of a folder pins them, without their install scripts. Once for each version
 * of the lock file.
 *
 * Test files run beside each other: each installs into a folder of its own, and the first to end gives the place its name.
 *
 * @param manifest - a folder of the project with `package.json` and `package-lock.json`
 */
export const installNpmFolder = (manifest: string): Promise<NpmFolder> => {
  const known = installing.get(manifest)
  if (known !== undefined) return known
  const begun = install(join(process.cwd(), manifest))
  installing.set(manifest, begun)
  return begun
}

const install = async (manifest: string): Promise<NpmFolder> => {
  const version = createHash('sha256')
    .update(readFileSync(join(manifest, LOCK)))
    .digest('hex')
  const name = basename(manifest)
  const folder = join(BUILD, `${name}-${version.slice(0, 16)}`)
  const lock = join(folder, LOCK)
  if (existsSync(folder)) return { lock, problem: undefined }
  mkdirSync(BUILD, { recursive: true })
  const own = mkdtempSync(join(BUILD, `${name}-new-`))
  try {
    for (const file of ['package.json', LOCK]) copyFileSync(join(manifest, file), join(own, file))
    const args = [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--fetch-retries=1'
    ]
    const problem = await new Promise<string | undefined>(resolve =>
      execFile('npm', args, { cwd: own, timeout: 240_000 }, (error, stdout, stderr) =>
        resolve(error === null ? undefined : `npm could not install them: ${stderr || stdout}`.slice(0, 500))
      )
    )
    if (problem === undefined && !existsSync(folder)) renameSync(own, folder)
    return { lock, problem }
  } catch (error) {
    if (existsSync(folder)) return { lock, problem: undefined }
    throw error
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

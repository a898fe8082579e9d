import { spawn } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/** The published package that the interop tests talk to. It is never a dependency and its source is never read. */
const PEER = 'edge-core-js'

/** Its versions that are talked to: the one of the protocol's description, and the newest. */
export const PEER_VERSIONS = ['1.14.0', '2.48.1'] as const

/** One of {@link PEER_VERSIONS}. */
export type PeerVersion = (typeof PEER_VERSIONS)[number]

/** Where the package is, or why it could not be had. */
export type PeerPackage = { readonly folder: string } | { readonly reason: string }

/**
 * Installs the published package below the system's temporary folder, outside this repository; once per machine,
 * user and version.
 *
 * The folder gets its name only when it is complete, so an install that was cut off is not taken for one.
 */
export const preparePeer = async (version: PeerVersion): Promise<PeerPackage> => {
  const name = `${PEER}@${version}`
  const cache = join(tmpdir(), `holdfast-interop-${userInfo().uid}`)
  const folder = join(cache, name)
  await mkdir(cache, { recursive: true, mode: 0o700 })
  await checkOurs(cache)
  if (await isThere(join(folder, 'package.json'))) return { folder }
  const draft = await mkdtemp(join(cache, 'draft-'))
  try {
    await writeFile(join(draft, 'package.json'), '{ "private": true }')
    const { code, output } = await runNpm(draft, name)
    if (code !== 0) return { reason: `npm could not install ${name}: ${reasonOf(output)}` }
    await rename(draft, folder).catch(async error => {
      // Another run was faster.
      if (!(await isThere(join(folder, 'package.json')))) throw error
    })
    return { folder }
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

// Code from this folder is run, so nobody else may have put it there.
const checkOurs = async (folder: string): Promise<void> => {
  const found = await lstat(folder)
  const { uid } = userInfo()
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) {
    throw new Error(`${folder} belongs to somebody else`)
  }
  await chmod(folder, 0o700)
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

const runNpm = (cwd: string, name: string): Promise<{ code: number | null; output: string }> =>
  new Promise(resolve => {
    const args = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', ...PATIENCE, name]
    const { npm_execpath: npmPath = '', ...env } = process.env
    const isNpm = /^npm(-cli\.[cm]?js)?$/.test(basename(npmPath))
    const options = { cwd, env: { ...env, NODE_OPTIONS: '' }, timeout: 100_000 }
    const child = isNpm
      ? spawn(process.execPath, [npmPath, ...args], options)
      : spawn('npm', args, { ...options, shell: process.platform === 'win32' })
    const chunks: Buffer[] = []
    const keep = (chunk: Buffer): number => chunks.push(chunk)
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', error => resolve({ code: 1, output: error.message }))
    child.on('close', code => resolve({ code, output: Buffer.concat(chunks).toString('utf8') }))
  })

const PATIENCE = [
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-timeout=30000',
  '--prefer-offline'
]

/** What npm says first of what went wrong: its code, such as `ENOTFOUND`. */
const reasonOf = (output: string): string => {
  const lines = stripVTControlCharacters(output).trim().split('\n')
  const errors = lines
    .map(line => /^npm (?:error|ERR!) (.*)$/.exec(line)?.[1] ?? '')
    .filter(line => line !== '' && !line.startsWith('A complete log'))
  const [first = ''] = errors.length > 0 ? errors : lines.slice(-1)
  return first.replace(/^code /, '').slice(0, 200) || 'it said nothing'
}

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

/** The published package that we compare with. It is never a dependency and its source is never read. */
export const PEER = 'edge-core-js@1.14.0'

/** An installed peer, or why there is none. `remove` deletes what was installed. */
export type PeerPackage =
  | { readonly folder: string; remove(): Promise<void> }
  | { readonly folder?: undefined; readonly reason: string }

/** Installs the published package into a new folder below the system's temporary one. */
export const installPeer = async (): Promise<PeerPackage> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-peer-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    await runNpm(folder)
    return { folder, remove }
  } catch (error) {
    await remove()
    const text = error instanceof Error ? error.message : String(error)
    const line = text.split('\n').find(one => /^npm (error|ERR!)/.test(one)) ?? text.split('\n')[0] ?? ''
    return { reason: `npm could not install ${PEER}: ${line.slice(0, 200)}` }
  }
}

/** Tells whether a folder that somebody names holds the right version. */
export const checkPeer = async (folder: string): Promise<PeerPackage> => {
  try {
    const path = join(folder, 'node_modules/edge-core-js/package.json')
    const { name, version } = JSON.parse(await readFile(path, 'utf8')) as { name: string; version: string }
    if (`${name}@${version}` === PEER) return { folder, remove: async () => {} }
    return { reason: `${folder} holds ${name}@${version}, not ${PEER}` }
  } catch {
    return { reason: `${folder} holds no ${PEER}` }
  }
}

const ARGUMENTS = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--prefer-offline']
const PATIENCE = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=20000']

const runNpm = (cwd: string): Promise<unknown> => {
  const run = promisify(execFile)
  const args = [...ARGUMENTS, ...PATIENCE, PEER]
  const { npm_execpath: npmPath = '', ...env } = process.env
  const options = { cwd, env: { ...env, NODE_OPTIONS: '' }, timeout: 60_000 }
  return /^npm(-cli\.[cm]?js)?$/.test(basename(npmPath))
    ? run(process.execPath, [npmPath, ...args], options)
    : run('npm', args, { ...options, shell: process.platform === 'win32' })
}

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runQuietly } from './run.mjs'

const stampPath = root => join(root, 'node_modules/.holdfast-stamp')

/** Tells whether node_modules holds what package-lock.json names, for this kind of machine. */
export const isInstalled = root => {
  try {
    return readFileSync(stampPath(root), 'utf8') === stampOf(root)
  } catch {
    return false
  }
}

/** Installs what package-lock.json names, development tools included; gives npm's exit code. */
export const install = async root => {
  if (isLikeLock(root)) {
    writeFileSync(stampPath(root), stampOf(root))
    return 0
  }
  console.error('holdfast: installing the packages of package-lock.json (about half a minute, once)…')
  // Tools with narrower `engines` than ours must not keep anyone out; our own floor is checked already.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']
  const { code, output } = await runNpm(args, { cwd: root, env: cleanEnv() })
  if (code !== 0) {
    console.error(output.trimEnd())
    console.error('holdfast: npm ci failed; see above.')
    return code
  }
  writeFileSync(stampPath(root), stampOf(root))
  return 0
}

const runNpm = (args, options) => {
  const { npm_execpath: npmPath } = process.env
  // Under `npm run` this is the very npm that was called; other package managers set it to themselves.
  if (npmPath !== undefined && /^npm(-cli\.[cm]?js)?$/.test(basename(npmPath))) {
    return runQuietly(process.execPath, [npmPath, ...args], options)
  }
  return runQuietly('npm', args, { ...options, shell: process.platform === 'win32' })
}

/** The environment without the settings that would make npm leave packages out. */
const cleanEnv = () => {
  const env = { ...process.env }
  for (const name of ['npm_config_omit', 'npm_config_production', 'npm_config_only', 'npm_config_dry_run']) {
    delete env[name]
  }
  return env
}

const stampOf = root => {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return `${lock} ${process.platform} ${process.arch}`
}

/** Tells whether somebody has already run a complete `npm ci` here; spares them a second one. */
const isLikeLock = root => {
  try {
    const wanted = packagesOf(join(root, 'package-lock.json'))
    const found = packagesOf(join(root, 'node_modules/.package-lock.json'))
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '') return true
      if (entry.optional === true && !isForThisMachine(entry)) return true
      return found[path]?.version === entry.version && existsSync(join(root, path, 'package.json'))
    })
  } catch {
    return false
  }
}

const packagesOf = path => JSON.parse(readFileSync(path, 'utf8')).packages

/** Optional packages without a platform, or for one C library of two, are not always installed. */
const isForThisMachine = ({ os, cpu, libc }) =>
  libc === undefined && os?.includes(process.platform) === true && cpu?.includes(process.arch) === true

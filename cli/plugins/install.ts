import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { isRecord } from '../profile/state-files.ts'
import { readPackage } from './bundle.ts'

/** A package that was installed. */
export interface InstalledPackage {
  readonly name: string
  readonly version: string
  readonly folder: string
  /** True if it wanted to run a script when it was installed, which it could not. */
  readonly hasScripts: boolean
}

const SPEC = /^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*(?:@[A-Za-z0-9.^~<>=|*+ -]{1,100})?$/

/** True for what names a package of the registry, or an archive of one. */
export const isPackage = (text: string): boolean =>
  (text.endsWith('.tgz') && existsSync(text)) || (SPEC.test(text) && !existsSync(text))

/**
 * Installs a package of the registry, or an archive, in an empty folder. None of its scripts runs.
 *
 * @param isProxied - the profile has a proxy, which npm would go around: then only archives without dependencies are installed
 * @throws CliError NETWORK-like failures of npm as PLUGIN_REFUSED, with what npm said
 */
export const installPackage = async (
  folder: string,
  spec: string,
  { signal, isProxied }: { readonly signal: AbortSignal; readonly isProxied: boolean }
): Promise<InstalledPackage> => {
  if (isProxied && !spec.endsWith('.tgz'))
    throw new CliError('PLUGIN_REFUSED', 'npm would go around the proxy of this profile', {
      hint: 'Fetch the package as an archive (.tgz) as you see fit, and add that file.'
    })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n', { mode: 0o600 })
  await runNpm(
    folder,
    [...(isProxied ? ['--offline'] : []), '--', spec.endsWith('.tgz') ? resolve(spec) : spec],
    signal
  )
  const [name] = Object.keys(dependenciesOf(folder))
  if (name === undefined) throw new CliError('PLUGIN_REFUSED', `npm installed nothing for ${spec}`)
  const installed = join(folder, 'node_modules', name)
  const { version, scripts } = readPackage(installed) ?? {}
  const hooks = isRecord(scripts) ? scripts : {}
  return {
    name,
    version: typeof version === 'string' ? version : '',
    folder: installed,
    hasScripts: ['preinstall', 'install', 'postinstall'].some(each => Object.hasOwn(hooks, each))
  }
}

const dependenciesOf = (folder: string): Readonly<Record<string, unknown>> => {
  const { dependencies } = readPackage(folder) ?? {}
  return isRecord(dependencies) ? dependencies : {}
}

const FLAGS =
  '--ignore-scripts --no-audit --no-fund --save-exact --legacy-peer-deps --omit=dev --loglevel=error'

const runNpm = async (folder: string, words: readonly string[], signal: AbortSignal): Promise<void> => {
  const script = process.env.npm_execpath
  // Yarn sets it, too.
  const [program, ...first] =
    script !== undefined && /[\\/]npm[^\\/]*\.js$/.test(script)
      ? [process.execPath, script]
      : [process.platform === 'win32' ? 'npm.cmd' : 'npm']
  const args = [...first, 'install', ...FLAGS.split(' '), ...words]
  const child = spawn(program, args, {
    cwd: folder,
    signal,
    // Nothing that is meant for the wallet, such as the path of a file with a secret.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))),
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-4000)
  })
  const failure = await new Promise<string | undefined>(done => {
    let error: string | undefined
    child.once('error', ({ message }) => {
      error = message
      // One that has started is waited for, so that it writes nothing more.
      if (child.pid === undefined) done(message)
    })
    child.once('close', code => done(code === 0 ? error : error || said.trim() || `npm ended with ${code}`))
  })
  signal.throwIfAborted()
  if (failure === undefined) return
  throw new CliError('PLUGIN_REFUSED', `The package ${words.at(-1)} cannot be installed: ${failure}`, {
    hint: 'A file, a folder or an archive (.tgz) needs no registry.'
  })
}

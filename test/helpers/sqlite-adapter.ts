import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The headers of this Node, where its own installation has them. */
const HEADERS = join(dirname(dirname(process.execPath)), 'include/node')
const COMPILER = '/usr/bin/g++'

/** Returns the reason for which SQLite's adapter cannot be compiled here; undefined if it can. */
export const missingSqlite = (): string | undefined => {
  const wanted = [COMPILER, '/usr/include/sqlite3.h', join(HEADERS, 'node_api.h')]
  const missing = wanted.find(path => !existsSync(path))
  return missing === undefined ? undefined : `the adapter of SQLite cannot be compiled without ${missing}`
}

/**
 * Compiles the part of the package `sqlite3` that its install script would compile or download, with the SQLite of the system. Once
 * for each installation.
 *
 * @param modules - the folder `node_modules` with the package
 */
export const compileSqlite = (modules: string): Promise<void> => {
  compiling ??= compile(modules)
  return compiling
}

let compiling: Promise<void> | undefined

const compile = async (modules: string): Promise<void> => {
  const folder = join(modules, 'sqlite3/build/Release')
  const addon = join(folder, 'node_sqlite3.node')
  if (existsSync(addon)) return
  mkdirSync(folder, { recursive: true })
  // Test files run beside each other.
  const own = join(folder, `${process.pid}.node`)
  const sources = ['backup', 'database', 'node_sqlite3', 'statement']
  await promisify(execFile)(COMPILER, [
    ...['-shared', '-fPIC', '-std=c++17', '-DNAPI_VERSION=6', '-DNAPI_DISABLE_CPP_EXCEPTIONS=1'],
    ...['-DNODE_GYP_MODULE_NAME=node_sqlite3', '-I', HEADERS, '-I', join(modules, 'node-addon-api')],
    ...sources.map(name => join(modules, 'sqlite3/src', `${name}.cc`)),
    ...['-lsqlite3', '-o', own]
  ])
  renameSync(own, addon)
}

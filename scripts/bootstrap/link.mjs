// Makes `holdfast` a command: a link to the built program in a folder of the PATH that the user may write, without root.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

const isWindows = process.platform === 'win32'
const NAME = isWindows ? 'holdfast.cmd' : 'holdfast'

/**
 * Links a program as `holdfast`: into the folder of the argument, or else into the first usual folder for programs that
 * is on the PATH and can be written. Gives the exit code.
 */
export const link = (
  program,
  [given],
  { env = process.env, log = console.log, error = console.error } = {}
) => {
  const folders = onPath(env)
  const known = given === undefined ? folders.find(folder => isOurs(join(folder, NAME), program)) : undefined
  if (known !== undefined) {
    log(`holdfast is linked already: ${join(known, NAME)}`)
    return 0
  }
  const usual = usualFolders(env)
  const choices =
    given === undefined ? [...usual.filter(folder => folders.includes(folder)), usual[0]] : [resolve(given)]
  const folder = choices.find(choice => put(join(choice, NAME), program))
  if (folder === undefined) {
    const [choice] = choices
    error(
      isOther(join(choice, NAME), program)
        ? `holdfast: ${join(choice, NAME)} is another program; remove it, or name another folder:`
        : `holdfast: ${choice} cannot be written; name a folder that can:`
    )
    error('  npm run link -- ~/bin')
    return 1
  }
  log(`holdfast is linked: ${join(folder, NAME)}`)
  const first = folders.find(one => existsSync(join(one, NAME)))
  if (!folders.includes(folder)) {
    log('This folder is not on your PATH yet. Run this, and add it to the start file of your shell:')
    log(isWindows ? `  set PATH=${folder};%PATH%` : `  export PATH="${folder}:$PATH"`)
  } else if (first !== folder) log(`But ${join(first, NAME)} comes first on your PATH.`)
  return 0
}

/** Removes every link to a program that {@link link} can have made, and gives the exit code. */
export const unlink = (program, [given], { env = process.env, log = console.log } = {}) => {
  const folders = new Set([
    ...(given === undefined ? [] : [resolve(given)]),
    ...onPath(env),
    ...usualFolders(env)
  ])
  const files = [...folders].map(folder => join(folder, NAME)).filter(file => isOurs(file, program))
  for (const file of files) {
    rmSync(file)
    log(`removed ${file}`)
  }
  if (files.length === 0) log('holdfast is not linked')
  return 0
}

const usualFolders = ({ HOME: home = homedir() }) => [
  join(home, '.local', 'bin'),
  join(home, 'bin'),
  dirname(process.execPath),
  '/usr/local/bin'
]

/** The folders of the PATH, without those that npm adds for its scripts. */
const onPath = ({ PATH = '' }) =>
  PATH.split(delimiter)
    .filter(folder => folder !== '' && !folder.includes('node_modules'))
    .map(folder => resolve(folder))

/** Tells whether the link could be made; one that is there already is replaced only if it is ours. */
const put = (file, program) => {
  if (isOther(file, program)) return false
  try {
    mkdirSync(dirname(file), { recursive: true })
    rmSync(file, { force: true })
    if (isWindows) writeFileSync(file, cmdOf(program))
    else symlinkSync(program, file)
    return true
  } catch {
    return false
  }
}

const cmdOf = program => `@node "${program}" %*\r\n`

const isOther = (file, program) => isThere(file) && !isOurs(file, program)

/** True also for a link to nothing. */
const isThere = file => {
  try {
    lstatSync(file)
    return true
  } catch {
    return false
  }
}

const isOurs = (file, program) => {
  try {
    if (isWindows) return readFileSync(file, 'utf8') === cmdOf(program)
    return resolve(dirname(file), readlinkSync(file)) === program
  } catch {
    return false
  }
}

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/** Writes the licence of every package whose code is in a bundle beside it, as their licences ask. */
export const writeLicenses = (folder, output) => {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds)
  const packages = new Set(modules.filter(id => id.includes(INSTALLED)).map(packageOf))
  const texts = [...packages]
    .filter(path => path !== undefined)
    .sort()
    .map(licenseOf)
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), `${texts.join(`\n${'-'.repeat(80)}\n\n`)}\n`)
}

const INSTALLED = `${sep}node_modules${sep}`

/** The folder of the package that a module is from; one without a name is only a mark inside of a package. */
const packageOf = id => {
  for (
    let path = dirname(id.replace(/^\0/, '').replace(/\?.*$/, ''));
    path.includes(INSTALLED);
    path = dirname(path)
  ) {
    const file = join(path, 'package.json')
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name !== undefined) return path
  }
  return undefined
}

const licenseOf = path => {
  const { name, version, license, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const file = readdirSync(path).find(entry => /^(?:licen[cs]e|copying)(?:\.|$)/i.test(entry))
  const by = typeof author === 'string' ? author : author?.name
  const text = file === undefined ? (by ?? '') : readFileSync(join(path, file), 'utf8').trim()
  return `${name} ${version}, ${license ?? 'see below'}\n\n${text}\n`
}

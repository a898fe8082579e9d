// Adds to package-lock.json the optional packages of other platforms that npm left out. npm drops those that
// the registry in use does not carry, and its version 11 then refuses the lock. Run it after a change of
// dependencies: node scripts/complete-lock.mjs
import { readFileSync, writeFileSync } from 'node:fs'

const CPUS = {
  x64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x'
}

/** The entry of a native package, read from its name: `…-linux-x64-musl`. No checksum is known for it. */
const entryOf = (name, version, isDev) => {
  const parts = name.split('/').at(-1).split('-')
  if (parts.includes('wasm32'))
    return { version, cpu: ['wasm32'], ...(isDev ? { dev: true } : {}), optional: true }
  const at = parts.findIndex(part => Object.hasOwn(CPUS, part))
  if (at < 1) throw new Error(`The platform of ${name} cannot be read from its name`)
  const os = parts[at - 1]
  const isMusl = parts.slice(at + 1).some(part => part.startsWith('musl'))
  return {
    version,
    cpu: [CPUS[parts[at]]],
    ...(isDev ? { dev: true } : {}),
    ...(os === 'linux' ? { libc: [isMusl ? 'musl' : 'glibc'] } : {}),
    optional: true,
    os: [os]
  }
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
let added = 0
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`
    if (Object.hasOwn(lock.packages, place) || Object.hasOwn(lock.packages, `${path}/${place}`)) continue
    lock.packages[place] = entryOf(name, version, entry.dev === true)
    ++added
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))
lock.packages = Object.fromEntries(sorted)
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.error(`${added} packages of other platforms added`)

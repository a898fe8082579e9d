import { readFileSync } from 'node:fs'

/** Ends the process with code 2 and one clear sentence when Node is older than `engines.node` of the package. */
export const refuseOldNode = packagePath => {
  const floor = JSON.parse(readFileSync(packagePath, 'utf8')).engines.node.replace('>=', '')
  if (!isOlder(process.versions.node, floor)) return
  console.error(`holdfast needs Node ${floor} or newer; this is Node ${process.versions.node}.`)
  console.error('Install a newer one from https://nodejs.org and try again.')
  process.exit(2)
}

const isOlder = (version, floor) => {
  const have = numbersOf(version)
  const need = numbersOf(floor)
  for (let i = 0; i < 3; ++i) {
    if (have[i] !== need[i]) return have[i] < need[i]
  }
  return false
}

const numbersOf = version => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(part => Number.parseInt(part, 10))
  return [major, minor, patch]
}

/** What this check reads of `package.json`. */
export interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin: Readonly<Record<string, string>>
}

/** What this check reads of `package-lock.json`. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockEntry>>
}

interface LockEntry {
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * Finds entries of the package that lead nowhere or to whole folders, dependencies that run a script when installed, and native
 * packages of other platforms that the lock lacks, for which npm 11 would refuse it everywhere (pure).
 *
 * @param exists - tells whether a file is there once the project is built
 */
export const checkPackage = (
  manifest: Manifest,
  lockfile: Lockfile,
  exists: (path: string) => boolean
): readonly string[] => {
  const entries = [
    ...Object.entries(manifest.exports).flatMap(([name, target]) =>
      typeof target === 'string'
        ? [[name, target] as const]
        : Object.values(target).map(path => [name, path] as const)
    ),
    ...Object.entries(manifest.bin)
  ]
  const open = entries
    .filter(([, path]) => path.includes('*'))
    .map(([name]) => `package.json: ${name} makes every file below it public; name each entry`)
  const missing = entries
    .filter(([, path]) => !path.includes('*') && !exists(path))
    .map(([name, path]) => `package.json: ${name} names ${path}, which does not exist`)
  const scripts = Object.entries(lockfile.packages)
    .filter(([, entry]) => entry.hasInstallScript === true)
    .map(([path]) => `package-lock.json: ${path} has an install script`)
  const absent = Object.entries(lockfile.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(name => !isLocked(lockfile, path, name))
      .map(name => `package-lock.json lacks ${name}; run node scripts/complete-lock.mjs`)
  )
  return [...open, ...missing, ...scripts, ...absent]
}

const isLocked = ({ packages }: Lockfile, path: string, name: string): boolean =>
  packages[`node_modules/${name}`] !== undefined || packages[`${path}/node_modules/${name}`] !== undefined

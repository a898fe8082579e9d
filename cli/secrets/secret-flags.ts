import { type SecretName, secretNames } from './secret-names.ts'
import type { SecretFlags } from './secret-sources.ts'

/** Finds the secret flags among parsed flags: `passwordStdin`, `newPinFile`, `secretsStdin`. */
export const secretFlagsOf = (flags: Readonly<Record<string, unknown>>): SecretFlags => {
  const files = new Map<SecretName, string>()
  for (const name of secretNames) {
    const path = flags[`${camelOf(name)}File`]
    if (typeof path === 'string') files.set(name, path)
  }
  return {
    stdin: secretNames.filter(name => flags[`${camelOf(name)}Stdin`] === true),
    files,
    hasJson: flags.secretsStdin === true
  }
}

/** A flag's name as commander keeps it. */
const camelOf = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

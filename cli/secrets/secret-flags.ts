import { type SecretName, secretNames } from './secret-names.ts'
import type { SecretFlags } from './secret-sources.ts'

/** Finds the secret flags among parsed flags: `passwordStdin`, `pinFile`, `secretsStdin`. */
export const secretFlagsOf = (flags: Readonly<Record<string, unknown>>): SecretFlags => {
  const files = new Map<SecretName, string>()
  for (const name of secretNames) {
    const path = flags[`${name}File`]
    if (typeof path === 'string') files.set(name, path)
  }
  return {
    stdin: secretNames.filter(name => flags[`${name}Stdin`] === true),
    files,
    hasJson: flags.secretsStdin === true
  }
}

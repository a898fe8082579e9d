import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const emitted = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The command line as it ships, or as it was emitted where no bundle was made. */
export const MAIN: string = [emitted('bin/holdfast.js'), emitted('cli/main.js')].find(existsSync) ?? ''

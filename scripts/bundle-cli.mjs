// Bundles the emitted command line into dist/bin, so that a plain command starts in about 60 ms: one file for the client
// of the agent, and chunks that are loaded when a command runs in its own process.
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { writeLicenses } from './bundled-licenses.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Bundles the command line into `<emitted>/bin`. `emitted` is `dist`, or the folder of another build. */
export const bundleCli = async emitted => {
  const folder = join(emitted, 'bin')
  rmSync(folder, { recursive: true, force: true })
  const run = await bundle(join(emitted, 'cli/run.js'), [stub], {
    dir: folder,
    format: 'esm',
    entryFileNames: RUN,
    chunkFileNames: 'chunks/[name]-[hash].mjs'
  })
  const tests = await bundle(join(emitted, 'cli/plugins/test-program.js'), [], {
    file: join(folder, 'chunks/test-program.mjs'),
    format: 'esm'
  })
  // A CommonJS file of its own, since Node takes several milliseconds to start its loader of modules.
  const client = await bundle(
    join(emitted, 'cli/main.js'),
    [runOutside],
    { file: join(folder, 'holdfast.js'), format: 'cjs' },
    { ACCOUNT_COMMANDS: JSON.stringify(await accountCommands(emitted)) }
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
  writeLicenses(folder, [...run, ...tests, ...client])
  chmodSync(join(folder, 'holdfast.js'), 0o755)
}

const RUN = 'chunks/run.mjs'

// The client starts an agent for them, and need not load the grammar to know them and their flags.
const accountCommands = async emitted => {
  const load = path => import(pathToFileURL(join(emitted, path)).href)
  const { commandSpecs } = await load('cli/commands/commands.js')
  const { shapeOf, startsAgent } = await load('cli/session/command.js')
  return commandSpecs.filter(startsAgent).map(shapeOf)
}

const bundle = async (input, plugins, output, define = {}) => {
  const bundled = await rolldown({
    input,
    platform: 'node',
    external: [/^node:/, ...builtinModules, ...OPTIONAL],
    transform: { define: { 'process.env.NODE_ENV': '"production"', ...define } },
    plugins
  })
  const { output: files } = await bundled.write({
    ...output,
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    sourcemap: false
  })
  await bundled.close()
  return files
}

// The client loads it only for a command that runs in its own process.
const runOutside = {
  name: 'run-outside',
  resolveId: id => (id === './run.js' ? { id: `./${RUN}`, external: true } : undefined)
}

// Loaded by name and only if somebody installed them: two make WebSockets a little faster, one bundles plugins.
const OPTIONAL = ['bufferutil', 'utf-8-validate', 'rolldown']
const STUB = '\0react-devtools-core'

// Ink loads it only under DEV=true; a wallet must not open a port for a debugger.
const stub = {
  name: 'stub-react-devtools',
  resolveId: id => (id === 'react-devtools-core' ? STUB : undefined),
  load: id => (id === STUB ? 'export default { initialize() {}, connectToDevTools() {} }' : undefined)
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await bundleCli(resolve(root, process.argv[2] ?? 'dist'))
}

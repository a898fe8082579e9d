// Bundles the emitted command line into dist/bin, so that a plain command starts in about 60 ms: one file that
// reads arguments, and further ones that are loaded when a command needs the kernel, prompts or a screen.
import { chmodSync, rmSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { writeLicenses } from './bundled-licenses.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Bundles `<emitted>/cli/main.js` into `<emitted>/bin`. `emitted` is `dist`, or the folder of another build. */
export const bundleCli = async emitted => {
  const folder = join(emitted, 'bin')
  const bundle = await rolldown({
    input: { holdfast: join(emitted, 'cli/main.js') },
    platform: 'node',
    external: [/^node:/, ...builtinModules, ...OPTIONAL],
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [stub]
  })
  rmSync(folder, { recursive: true, force: true })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    sourcemap: false
  })
  await bundle.close()
  writeLicenses(folder, output)
  chmodSync(join(folder, 'holdfast.js'), 0o755)
}

// Loaded by name and only if somebody installed them: they make WebSockets a little faster.
const OPTIONAL = ['bufferutil', 'utf-8-validate']
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

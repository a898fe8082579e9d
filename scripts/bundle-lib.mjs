// Bundles what package.json exports into dist/lib. The entries share their chunks, so that a class such as `WalletError`
// exists once. Dependencies that cost time to load are inside; the types stay one file for each module.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { bundleCellFrame } from './bundle-cell-frame.mjs'
import { writeLicenses } from './bundled-licenses.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Bundles every entry of package.json into `<emitted>/lib`. `emitted` is `dist`, or the folder of another build. */
export const bundleLib = async emitted => {
  const folder = join(emitted, 'lib')
  const bundle = await rolldown({
    input: entriesOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports),
    // For Node and for web pages.
    platform: 'neutral',
    external: isOutside,
    // As tapable asks of bundlers for web pages: the only module of Node among the packages inside.
    resolve: {
      mainFields: ['module', 'main'],
      alias: { util: join(root, 'node_modules/tapable/lib/util-browser.js') }
    },
    transform: { jsx: { runtime: 'automatic' } },
    // Neither being imported nor being read does anything in this project, as for the pages.
    treeshake: { moduleSideEffects: [{ test: OWN, sideEffects: false }], propertyReadSideEffects: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message)
    }
  })
  rmSync(folder, { recursive: true, force: true })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    // The package has its sources; they need not stand in the maps as well.
    sourcemap: true,
    sourcemapExcludeSources: true
  })
  await bundle.close()
  writeLicenses(folder, [...output, ...(await bundleCellFrame(folder))])
}

/** The source of each entry, by its name below `dist/lib`. */
const entriesOf = exports =>
  Object.fromEntries(
    Object.values(exports)
      .filter(target => typeof target === 'object')
      .map(({ types, default: code }) => {
        const stem = types.replace('./dist/', '').replace('.d.ts', '')
        const source = [`${stem}.ts`, `${stem}.tsx`].find(path => existsSync(join(root, path)))
        if (source === undefined) throw new Error(`package.json: ${types} comes from no source`)
        return [code.replace('./dist/lib/', '').replace(/\.js$/, ''), join(root, source)]
      })
  )

const OWN =
  /[\\/](?:app|cells|devtools|fake-server|kernel|platform|plugins|testing)[\\/](?!.*(?:node_modules|scrypt-worker))/

// They cost time to load, and no application hands us an object of theirs.
const INSIDE = /^(?:@noble|@scure)\/|^(?:@rgrove\/parse-xml|big-integer|tapable|tinyqueue|yup)$/

/** Whether one of our modules imports another package that stays one, or a module of Node. */
const isOutside = (id, importer) =>
  importer !== undefined &&
  !importer.includes('node_modules') &&
  !/^(?:[./\0]|[A-Za-z]:)/.test(id) &&
  !INSIDE.test(id)

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await bundleLib(resolve(root, process.argv[2] ?? 'dist'))
}

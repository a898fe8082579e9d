import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundled } from './cell-stage.ts'
import { CELLAR, LIMIT, RATES, SHOP, WATCH } from './plugin-sources.ts'
import { TOLLAR } from './tollar-source.ts'

// Compiles a plugin of each kind as it is compiled today, for later kernels to load. Run once for a new version, never by a test:
//   node dist/test/helpers/write-plugin-fixtures.js

const SOURCES: Readonly<Record<string, string>> = {
  currency: TOLLAR,
  rates: RATES,
  swap: SHOP,
  storage: CELLAR,
  policy: LIMIT,
  observer: WATCH
}

/** The source without its types, as a package ships it: what it imports of `holdfast` comes from whoever installs it. */
const compiled = async (source: string): Promise<string> => {
  const entry = 'plugin.ts'
  const bundle = await rolldown({
    input: entry,
    external: /^holdfast\//,
    plugins: [
      {
        name: 'source',
        resolveId: id => (id === entry ? entry : undefined),
        load: id => (id === entry ? source : undefined)
      }
    ]
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
const folder = join('test/fixtures', `plugins-${version.replace(/\.\d+$/, '')}`)
mkdirSync(folder, { recursive: true })
for (const [kind, source] of Object.entries(SOURCES)) {
  const head = `// Compiled with holdfast ${version} by test/helpers/write-plugin-fixtures.ts. Later versions must load it as it is.\n`
  writeFileSync(join(folder, `${kind}.js`), head + (await compiled(source)))
  // A cell has no place for a store.
  if (kind !== 'storage')
    writeFileSync(join(folder, `${kind}.cell.js`), head + (await bundled(source, { minify: true })))
}

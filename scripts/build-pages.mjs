// Builds the pages of the devtools into static files: the panel that `holdfast devtools` serves, and the page that has a
// wallet and a fake world inside. `npm run devtools` serves the latter from the sources and follows their changes.
import { existsSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Each page: the folder of its `index.html`, where it goes below `devtools`, and the name of its script. */
const pages = [
  { source: 'devtools/panel', target: 'panel', name: 'panel' },
  { source: 'devtools/standalone', target: 'page', name: 'page' }
]

/** Builds every page into `<emitted>/devtools`. `emitted` is `dist`, or the folder of another build. */
export const buildPages = async emitted => {
  const { build } = await import('vite')
  for (const { source, target, name } of pages) {
    if (!existsSync(join(root, source, 'index.html'))) continue
    await build({
      ...settings(source),
      base: './',
      build: {
        outDir: join(emitted, 'devtools', target),
        // The compiler leaves its files of the same folder there.
        emptyOutDir: false,
        target: 'es2022',
        modulePreload: false,
        // Else the style would be written into the page by the script, which the policy forbids.
        cssCodeSplit: false,
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: Number.POSITIVE_INFINITY,
        rolldownOptions: {
          // Neither being imported nor being read does anything in this project: what only stands beside what is used is left out.
          treeshake: {
            moduleSideEffects: [{ test: OWN, sideEffects: false }],
            propertyReadSideEffects: false
          },
          output: { ...flat(name), format: 'iife', codeSplitting: false },
          // A script that is no module has no address of its own; the worker lies beside the page.
          transform: { define: { 'import.meta.url': 'document.baseURI', 'import.meta.resolve': 'undefined' } }
        }
      },
      plugins: [withoutModules, withShortStyles, withoutNodes],
      worker: { format: 'es', rolldownOptions: { output: flat(name) } }
    })
  }
}

/**
 * Serves the page with the wallet inside from the sources, with the plugins of a profile, on a free port of this machine; gives
 * its address, with the token that shows the plugins.
 */
const servePage = async args => {
  const { createServer } = await import('vite')
  const { pageProfile, profilePlugins } = await import('../dist/scripts/page-plugins.js')
  const profile = pageProfile(args)
  const { default: react } = await import('@vitejs/plugin-react')
  const server = await createServer({
    ...settings('.'),
    server: {
      ...{ host: '127.0.0.1', port: 0, cors: false },
      // By the path: a config may stand in a folder of the same name elsewhere.
      watch: { ignored: path => BUILT.some(folder => `${resolve(path)}${sep}`.startsWith(folder)) }
    },
    // The worker's packages, too: what is found later reloads the page.
    optimizeDeps: { entries: ['devtools/standalone/index.html', 'platform/browser/scrypt-worker.ts'] },
    plugins: [react(), withoutPolicy, profilePlugins(root, profile)],
    cacheDir: join(root, '.build/vite')
  })
  await server.listen()
  const { port } = server.httpServer.address()
  return `http://127.0.0.1:${port}/devtools/standalone/#token=${profile.token}`
}

const BUILT = ['dist', '.build'].map(name => join(root, name, sep))

const OWN = /[\\/](?:app|devtools|fake-server|kernel|platform|plugins)[\\/](?!.*node_modules)/

const settings = folder => ({
  configFile: false,
  root: join(root, folder),
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic' } }
})

/** Names without a hash, so that the files are known by name. */
const flat = name => ({
  entryFileNames: ({ name: chunk }) => (chunk === 'index' ? `${name}.js` : '[name].js'),
  chunkFileNames: '[name].js',
  assetFileNames: ({ names: [asset = ''] }) => (asset.endsWith('.css') ? `${name}.css` : '[name][extname]')
})

/** Browsers load no module, and nothing across origins, into a page that was opened from a folder without a server. */
const withoutModules = {
  name: 'without-modules',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: html =>
      html.replaceAll(/ crossorigin(?=[ >])/g, '').replace('<script type="module"', '<script defer')
  }
}

/** The panel's styles are texts of a script, which no minifier shortens: only the space around braces and semicolons, and behind colons and commas, goes. */
const withShortStyles = {
  name: 'with-short-styles',
  apply: 'build',
  transform: {
    filter: { id: /[\\/]devtools[\\/]react[\\/]frame[\\/]styles\.ts$/ },
    handler: code =>
      code.replace(/(?<=Styles = )`[^`]*`/g, styles =>
        styles
          .replace(/\s+/g, ' ')
          .replace(/ ?([{};]) ?/g, '$1')
          .replace(/([:,]) /g, '$1')
      )
  }
}

/** A page cannot reach a node by RPC: nodes allow no requests of other origins, and the io of a browser adds no login. */
const withoutNodes = {
  name: 'without-nodes',
  apply: 'build',
  load: {
    filter: { id: /[\\/]plugins[\\/]currency[\\/]utxo[\\/]http[\\/]node\.ts$/ },
    handler: () => 'export const readNodeUrl = () => undefined'
  }
}

/** The development server writes scripts and styles into the page, which the page's own policy forbids. */
const withoutPolicy = {
  name: 'without-policy',
  apply: 'serve',
  transformIndexHtml: {
    order: 'pre',
    handler: html => html.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, '')
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'serve') console.log(await servePage(process.argv.slice(3)))
  else await buildPages(resolve(root, process.argv[2] ?? 'dist'))
}

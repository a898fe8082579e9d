import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { type ServedFolder, serveFolder } from './serve-folder.ts'

/** The policy of a careful page. Trusted Types: only the policy of the test page may name a script. */
const POLICY = [
  "default-src 'none'",
  'img-src data:',
  "script-src 'self'",
  "worker-src 'self'",
  "require-trusted-types-for 'script'",
  'trusted-types parts'
].join('; ')

/**
 * Serves a page with one of the scripts of `test/browser/page`, and `worker.js`, and with the frame of contained plugins, under a strict policy.
 *
 * @param policy - the page's content security policy
 * @param alias - packages in whose place others are bundled, as an application brings its own
 */
export const serveTestPage = async (
  script:
    | 'cells-page'
    | 'contained-page'
    | 'embedded-page'
    | 'flood-page'
    | 'held-page'
    | 'large-wallet-page'
    | 'networked-page'
    | 'parts-page'
    | 'sample-page'
    | 'standalone-page'
    | 'truth-page',
  policy: string = POLICY,
  alias: Readonly<Record<string, string>> = {}
): Promise<ServedFolder> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
  try {
    const bundle = await rolldown({
      input: {
        page: emitted(`../page/${script}.js`),
        worker: emitted('../../../platform/browser/scrypt-worker.js')
      },
      platform: 'browser',
      resolve: { alias },
      transform: { define: { 'process.env.NODE_ENV': '"production"' } }
    })
    await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].js' })
    await bundle.close()
    await writeFile(
      join(folder, 'index.html'),
      '<!doctype html><title>Test</title><link rel="icon" href="data:,"><script type="module" src="page.js"></script>'
    )
    await copyFile(emitted('../../../lib/browser/cell-frame.html'), join(folder, 'cell-frame.html'))
    return await serveFolder(folder, { 'content-security-policy': policy })
  } finally {
    await rm(folder, { recursive: true })
  }
}

const emitted = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// Bundles the frame that holds contained plugins in a web page into one file: `dist/lib/browser/cell-frame.html`. Its program,
// and that of its workers, stand inside, so that the file needs no other and its policy can name its one script.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Writes the file below a folder and gives what was bundled, for its licences. */
export const bundleCellFrame = async folder => {
  const thread = await bundleProgram('thread-program', {})
  const frame = await bundleProgram('frame-program', { THREAD_PROGRAM: JSON.stringify(thread.code) })
  const script = frame.code
  if (/<\/script|<!--/i.test(script)) throw new Error('The script of the frame would end early in its page')
  const hash = createHash('sha256').update(script).digest('base64')
  const policy = `default-src 'none'; script-src 'sha256-${hash}' blob:; worker-src blob:; base-uri 'none'; form-action 'none'`
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><title>Cells</title><script>${script}</script>\n`
  mkdirSync(join(folder, 'browser'), { recursive: true })
  writeFileSync(join(folder, 'browser/cell-frame.html'), html)
  return [thread, frame]
}

const bundleProgram = async (name, define) => {
  const bundle = await rolldown({
    input: join(root, `cells/browser/${name}.ts`),
    platform: 'browser',
    transform: { define }
  })
  const { output } = await bundle.generate({ format: 'iife', minify: true, codeSplitting: false })
  await bundle.close()
  return output[0]
}

/// <reference lib="dom" />
// The program of the sandboxed frame: it starts and ends workers for the page, and sees no message between them.
import type { FromFrame, ThreadStart, ToFrame } from './host-frame.ts'

/** The text of `thread-program.ts`, which the bundler writes here. */
declare const THREAD_PROGRAM: string

/** Serves the page that this frame stands in. */
const serve = (page: MessagePort): void => {
  const program = addressOf(THREAD_PROGRAM)
  const workers = new Map<number, { readonly worker: Worker; readonly script: string }>()
  const post = (message: FromFrame): void => page.postMessage(message)
  const end = (id: number): void => {
    const { worker, script } = workers.get(id) ?? {}
    worker?.terminate()
    // One that ends before it is loaded would keep its code in memory.
    if (script !== undefined) URL.revokeObjectURL(script)
    workers.delete(id)
  }
  page.addEventListener('message', ({ data }: MessageEvent<ToFrame>) => {
    if (data.type === 'ping') post({ type: 'pong' })
    else if (data.type === 'end') end(data.id)
    else {
      const { id, code, line, ...limits } = data
      const script = addressOf(code)
      const worker = new Worker(program)
      workers.set(id, { worker, script })
      worker.addEventListener('message', () => URL.revokeObjectURL(script), { once: true })
      worker.addEventListener('error', event => {
        event.preventDefault()
        end(id)
        post({ type: 'failed', id })
      })
      const start: ThreadStart = { line, script, ...limits }
      worker.postMessage(start, [line])
    }
  })
  page.start()
  post({ type: 'ready' })
}

const addressOf = (text: string): string => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))

const onMessage = ({ source, ports: [page] }: MessageEvent): void => {
  if (source !== parent || page === undefined) return
  removeEventListener('message', onMessage)
  serve(page)
}

// Outside of a sandbox its workers would have the storage of whoever serves this file.
if (origin === 'null' && parent !== window) addEventListener('message', onMessage)

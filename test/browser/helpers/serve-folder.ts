import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, relative } from 'node:path'

/** A folder on a port of this machine. */
export interface ServedFolder {
  /** Without a slash at its end. */
  readonly url: string
  close(): void
}

/** Serves the files that a folder has now, with the headers that are given; a `cell-frame.html` brings its own policy. */
export const serveFolder = async (
  folder: string,
  headers: Readonly<Record<string, string>> = {}
): Promise<ServedFolder> => {
  const files = new Map<string, Buffer>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files.set(`/${relative(folder, path)}`, await readFile(path))
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const body = files.get(path)
    if (body === undefined) {
      response.writeHead(404).end()
      return
    }
    response
      .writeHead(200, {
        'content-type': TYPES[extname(path)] ?? 'text/plain',
        ...(path === '/cell-frame.html' ? {} : headers)
      })
      .end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml'
}

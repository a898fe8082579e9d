import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** One connection that a client asked the proxy for. */
export interface ProxiedConnection {
  readonly user: string
  readonly password: string
  /** Of the address: 1 and 4 are numbers, 3 is a name that the client has not looked up. */
  readonly type: number
  readonly host: string
  readonly port: number
}

/** A SOCKS5 proxy on loopback (RFC 1928 and 1929) that takes user names, as Tor does. */
export interface SocksStub {
  readonly url: string
  readonly port: number
  readonly log: readonly ProxiedConnection[]
  /** From now on every connection is refused with this reply code. */
  refuse(code: number): void
}

/** Serves a proxy that connects every name to this computer, on the port that the client wanted. */
export const serveSocks = async (t: ExecutionContext): Promise<SocksStub> => {
  const log: ProxiedConnection[] = []
  const sockets = new Set<Socket>()
  let refusal = 0
  const server = createServer(socket => {
    keep(socket)
    void serveClient(socket).catch(() => socket.destroy())
  })
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const serveClient = async (socket: Socket): Promise<void> => {
    const bytes = readerOf(socket)
    const [, methods = 0] = await bytes(2)
    await bytes(methods)
    socket.write(Buffer.from([5, 2]))
    const [, userLength = 0] = await bytes(2)
    const user = (await bytes(userLength)).toString()
    const [passwordLength = 0] = await bytes(1)
    const password = (await bytes(passwordLength)).toString()
    socket.write(Buffer.from([1, 0]))
    const [, , , type = 0] = await bytes(4)
    const length = type === 3 ? ((await bytes(1))[0] ?? 0) : type === 1 ? 4 : 16
    const raw = await bytes(length)
    const host = type === 3 ? raw.toString() : type === 1 ? raw.join('.') : raw.toString('hex')
    const port = (await bytes(2)).readUInt16BE()
    log.push({ user, password, type, host, port })
    if (refusal > 0) {
      socket.end(Buffer.from([5, refusal, 0, 1, 0, 0, 0, 0, 0, 0]))
      return
    }
    const target = connect(port, '127.0.0.1')
    keep(target)
    target.once('connect', () => {
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      bytes.rest(target)
      target.pipe(socket)
    })
    target.once('close', () => socket.destroy())
    socket.once('close', () => target.destroy())
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const refuse = (code: number): void => {
    refusal = code
  }
  return { url: `socks5://127.0.0.1:${port}`, port, log, refuse }
}

/** Reads a number of bytes at a time; `rest` sends what is left, and what comes, to another socket. */
const readerOf = (socket: Socket): ((count: number) => Promise<Buffer>) & { rest(target: Socket): void } => {
  let held = Buffer.alloc(0)
  let wake = (): void => undefined
  const onData = (data: Buffer): void => {
    held = Buffer.concat([held, data])
    wake()
  }
  socket.on('data', onData)
  const read = async (count: number): Promise<Buffer> => {
    while (held.length < count) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
    const bytes = held.subarray(0, count)
    held = held.subarray(count)
    return bytes
  }
  return Object.assign(read, {
    rest: (target: Socket): void => {
      socket.off('data', onData)
      if (held.length > 0) target.write(held)
      socket.pipe(target)
    }
  })
}

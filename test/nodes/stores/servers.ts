import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A database server of the test's own, on a free port. */
export interface StoreServer {
  readonly url: string
  /** Ends its process at once, as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  start(): Promise<void>
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

const REDIS = '/usr/bin/redis-server'

/** Why a server cannot be started here; undefined if it can. */
export const missingServer = (kind: 'postgres' | 'redis'): string | undefined => {
  if (kind === 'redis') return existsSync(REDIS) ? undefined : 'redis-server is not installed'
  return postgresFolder() === undefined ? 'postgresql is not installed' : undefined
}

/** Starts a Redis that writes each change to the disk before it answers. */
export const startRedis = async (): Promise<StoreServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-redis-'))
  const port = await freePort()
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
  return serverOf({
    url: `redis://127.0.0.1:${port}`,
    folder,
    launch: () => spawn(REDIS, [...args, ...durable], { stdio: 'ignore' }),
    isReady: () => call('redis-cli', ['-p', `${port}`, 'ping']).includes('PONG')
  })
}

/** Gives a Redis so many bytes of memory, or all that there are for 0; what it has may be more. */
export const limitRedis = async (url: string, bytes: number): Promise<void> => {
  const { port } = new URL(url)
  const answer = call('redis-cli', ['-p', port, 'config', 'set', 'maxmemory', `${bytes}`])
  if (!answer.includes('OK')) throw new Error('Redis takes no limit')
}

/** Starts a PostgreSQL as it is set up by default. */
export const startPostgres = async (): Promise<StoreServer> => {
  const programs = postgresFolder() ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const owner = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  chmodSync(folder, 0o755)
  if (owner.uid !== undefined) for (const path of [folder, data]) chownSync(path, owner.uid, owner.gid)
  const run = { ...owner, cwd: folder, stdio: 'ignore' as const }
  execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'holdfast'], run)
  const port = await freePort()
  const args = ['-D', data, '-p', `${port}`, '-k', folder, '-c', 'listen_addresses=127.0.0.1']
  return serverOf({
    url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
    folder,
    launch: () => spawn(join(programs, 'postgres'), args, run),
    isReady: () =>
      call(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`]).includes('accepting')
  })
}

interface Launched {
  readonly url: string
  readonly folder: string
  launch(): ChildProcess
  isReady(): boolean
}

const serverOf = async ({ url, folder, launch, isReady }: Launched): Promise<StoreServer> => {
  let child = launch()
  const ready = async (): Promise<void> => {
    for (let tries = 0; !isReady(); tries += 1) {
      if (tries > 1200 || child.exitCode !== null) throw new Error(`The server at ${url} does not start`)
      await sleep(100)
    }
  }
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  await ready()
  return {
    url,
    kill: () => end('SIGKILL'),
    async start() {
      child = launch()
      await ready()
    },
    async stop() {
      // PostgreSQL waits for its clients at SIGTERM.
      await end('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    }
  }
}

const call = (program: string, args: readonly string[]): string => {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

/** Where Debian has the programs of its newest PostgreSQL. */
const postgresFolder = (): string | undefined => {
  const root = '/usr/lib/postgresql'
  const [newest] = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folder = newest === undefined ? undefined : join(root, newest, 'bin')
  return folder !== undefined && existsSync(join(folder, 'postgres')) ? folder : undefined
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return address.port
}

import type { HostedCell } from '../cell-hosts.ts'

/** What the thread of a cell is started with. */
export interface ThreadData extends HostedCell {
  /** Where the thread marks in the file of its host that it runs code of the plugin. */
  readonly mark: number
}

// biome-ignore lint/suspicious/noExplicitAny: modules of Node, handed over by the line that imports them.
type Modules = any

/** The functions of {@link RealmPort.native}. Its text runs in the thread. Most cells never use `crypto`, which takes a while to load. */
function makeNatives(
  loadCrypto: () => Modules
): Record<string, (...texts: [string, string, string]) => string> {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
  const bytes = (text: string): Buffer => Buffer.from(text, 'hex')
  const cipher = (make: string, key: string, iv: string, data: string): string => {
    const algorithm = `aes-${key.length * 4}-cbc`
    const made = loadCrypto()[make](algorithm, bytes(key), bytes(iv)).setAutoPadding(false)
    return hex(Buffer.concat([made.update(bytes(data)), made.final()]))
  }
  return {
    monotonic: () => String(performance.now()),
    random: count => hex(loadCrypto().randomBytes(Math.min(Number(count), 65_536))),
    sha256: data => loadCrypto().createHash('sha256').update(bytes(data)).digest('hex'),
    hmacSha256: (key, data) =>
      loadCrypto().createHmac('sha256', bytes(key)).update(bytes(data)).digest('hex'),
    hmacSha1: (key, data) => loadCrypto().createHmac('sha1', bytes(key)).update(bytes(data)).digest('hex'),
    scrypt(data, salt, cost) {
      const [N, r, p, length] = cost.split(',').map(Number)
      return hex(loadCrypto().scryptSync(bytes(data), bytes(salt), length, { N, r, p, maxmem: 100_000_000 }))
    },
    toBase64: data => bytes(data).toString('base64'),
    fromBase64(text) {
      const read = Buffer.from(text, 'base64')
      if (read.toString('base64') !== text) throw new TypeError('This is no base64')
      return hex(read)
    },
    toUtf8(text) {
      if (!(text as Modules).isWellFormed()) throw new TypeError('A lone surrogate')
      return hex(Buffer.from(text, 'utf8'))
    },
    aesCbcEncrypt: (key, iv, data) => cipher('createCipheriv', key, iv, data),
    aesCbcDecrypt: (key, iv, data) => cipher('createDecipheriv', key, iv, data)
  }
}

/** Takes away what connects, listens, sends, and signals other processes. Its text runs in the thread, before anything else. */
export function closeThread({ net, dgram, process }: Modules): void {
  // Node below 26 has no flag for that.
  const refuse = (): never => {
    throw new Error('A cell has no such right')
  }
  for (const name of ['kill', '_kill', '_debugProcess'])
    Object.defineProperty(process, name, { value: refuse })
  for (const owner of [net.Socket.prototype, net.Server.prototype, dgram.Socket.prototype])
    for (const method of ['connect', 'listen', 'bind', 'send'])
      if (method in owner) Object.defineProperty(owner, method, { value: refuse })
}

/**
 * The program of a cell's thread. Its text runs in a worker without rights; it uses nothing from outside of itself.
 *
 * Nothing of it ever reaches the plugin: the realm calls it with texts and numbers, and gets texts and numbers.
 */
function runThread({ parentPort, workerData, vm, natives, fs, process }: Modules): void {
  const { realmText, code, name, open, mark, limits } = workerData
  // Where `import()` leaks an error of this realm, no function can be made of it.
  for (const made of [() => {}, async () => {}, function* () {}, async function* () {}])
    Object.defineProperty(Object.getPrototypeOf(made), 'constructor', { value: undefined })
  let depth = 0
  const flag = new Uint8Array(1)
  const note = (value: number): void => {
    flag[0] = value
    fs.writeSync(3, flag, 0, 1, mark)
  }
  const enter = (task: () => void): void => {
    if (depth++ === 0) note(1)
    try {
      task()
    } finally {
      // Microtasks of the plugin run before the next task of this thread.
      if (--depth === 0) setImmediate(() => depth === 0 && note(2 + (Math.floor(Date.now() / 100) % 250)))
    }
  }
  let unreadLength = 0
  let unreadMessages = 0
  const end = (reason: string): void => {
    parentPort.postMessage({ end: reason })
    process.exit(1)
  }
  const send = (text: string): void => {
    unreadLength += text.length
    unreadMessages += 1
    if (unreadLength > limits.maxUnreadLength || unreadMessages > limits.maxUnreadMessages) end('flood')
    parentPort.postMessage(text)
  }
  const native = (what: string, ...texts: string[]): string => natives[what]?.(...texts) ?? ''
  const sleep = (milliseconds: number, id: number): void => {
    setTimeout(() => enter(() => realm.fire(id)), milliseconds)
  }
  const context = vm.createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } })
  const realm = vm.runInContext(realmText, context)({ send, sleep, native })
  process.on('unhandledRejection', (reason: unknown) => enter(() => realm.thrown(reason)))
  parentPort.on('message', (message: string | number) => {
    if (typeof message === 'string') {
      enter(() => realm.receive(message))
      return
    }
    unreadMessages -= 1
    unreadLength -= message
  })
  // The host starts the next thread now: however long the plugin takes, no other waits for it.
  parentPort.postMessage({ isLoading: true })
  enter(() => {
    try {
      new vm.Script(code, { filename: name }).runInContext(context, { timeout: limits.loadMs })
      realm.receive(open)
    } catch (error) {
      realm.unusable(error)
    }
  })
}

/** Ends a cell that runs for too long, and the process when it takes too much memory. Its text runs in the host. */
function watchCells(
  { fs, process, lastMessage }: Modules,
  cells: Map<string, Modules>,
  settings: Modules
): void {
  let used = process.cpuUsage()
  // Of a machine that does much else, a thread has run no longer than its process.
  const watchTime = (passedMs: number): void => {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    const ranMs = Math.min(passedMs, (user + system) / 1000)
    for (const cell of cells.values()) {
      const now = cell.worker.performance.eventLoopUtilization()
      const { utilization } = cell.worker.performance.eventLoopUtilization(now, cell.busy)
      cell.busy = now
      cell.busyMs = utilization > 0.98 ? cell.busyMs + ranMs : 0
      if (cell.busyMs < cell.maxBusyMs) continue
      cell.reason = 'busy'
      cell.worker.terminate()
    }
  }
  const watchMemory = (): void => {
    if (process.memoryUsage.rss() <= settings.memory + cells.size * settings.memoryPerCell) return
    fs.writeSync(2, 'memory')
    process.kill(process.pid, 'SIGKILL')
  }
  // Often while something happens; what a cell does unseen is found a little later.
  let waitedMs = 0
  const watch = (): void => {
    const isBusy = Date.now() - lastMessage() < 2000
    const delayMs = isBusy ? 50 : 250
    setTimeout(() => {
      watchMemory()
      waitedMs += delayMs
      if (waitedMs >= 500) {
        watchTime(waitedMs)
        waitedMs = 0
      }
      watch()
    }, delayMs)
  }
  watch()
}

/**
 * Starts threads one after the other, about as many at once as there are cores, and first those that a call waits for: all at
 * once they would all be as late as the last. Its text runs in the host.
 */
function queueStarts(atOnce: () => number, start: (id: string, data: Modules) => void): Modules {
  const waiting = new Map<string, Modules>()
  const preferred = new Set<string>()
  /** The cells whose thread has not come to its plugin yet. */
  const starting = new Set<string>()
  const drop = (id: string): boolean => {
    preferred.delete(id)
    return waiting.delete(id)
  }
  const startNext = (): void => {
    while (starting.size < atOnce() && waiting.size > 0) {
      const id = [...preferred, ...waiting.keys()][0] as string
      const data = waiting.get(id)
      drop(id)
      starting.add(id)
      start(id, data)
    }
  }
  return {
    drop,
    add(id: string, data: Modules): void {
      waiting.set(id, data)
      startNext()
    },
    prefer: (id: string): unknown => waiting.has(id) && preferred.add(id),
    started: (id: string): unknown => starting.delete(id) && startNext()
  }
}

/** Cuts what arrives into lines. Its text runs in the host. */
function feedOf(take: (line: string) => void): (chunk: string) => void {
  let buffered: string[] = []
  return chunk => {
    const lines = chunk.split('\n')
    const last = lines.pop() ?? ''
    if (lines.length > 0) {
      lines[0] = buffered.join('') + lines[0]
      buffered = []
      for (const line of lines) take(line)
    }
    if (last !== '') buffered.push(last)
  }
}

/**
 * The program of the process that holds cells. Its text is read from standard input by the loader; it uses nothing from
 * outside of itself. Lines come in as `S <cell> <json>`, `P <cell>`, `M <cell> <text>`, `K <cell>`, and go out as `B <cell>` when a thread
 * starts, `M <cell> <text>` and `E <cell> <reason>`.
 */
function runHost(
  { Worker, watch, makeQueue, makeFeed, process }: Modules,
  threadText: string,
  rest: string
): void {
  const cells = new Map<string, Modules>()
  let settings: Modules
  let last = Date.now()
  const write = (line: string): void => void process.stdout.write(`${line}\n`)
  const end = (id: string, reason: string): void => {
    if (!cells.delete(id)) return
    queue.started(id)
    write(`E ${id} ${reason.replace(/\s+/g, ' ').slice(0, 300)}`)
  }
  const start = (id: string, data: Modules): void => {
    write(`B ${id} `)
    const worker = new Worker(threadText, {
      ...{ eval: true, workerData: { ...data, realmText: settings.realmText } },
      ...{ env: {}, stdin: false, stdout: true, stderr: true },
      ...{ execArgv: settings.threadFlags, resourceLimits: settings.resourceLimits }
    })
    const cell = {
      worker,
      busy: worker.performance.eventLoopUtilization(),
      busyMs: 0,
      maxBusyMs: data.limits.maxBusyMs,
      reason: ''
    }
    cells.set(id, cell)
    worker.stdout.resume()
    worker.stderr.resume()
    worker.on('message', (message: string | { end?: string }) => {
      if (typeof message !== 'string') {
        queue.started(id)
        if (message.end !== undefined) cell.reason = message.end
      } else if (message.length > settings.maxMessage || message.includes('\n')) {
        cell.reason = 'flood'
        worker.terminate()
      } else {
        last = Date.now()
        write(`M ${id} ${message}`)
        worker.postMessage(message.length)
      }
    })
    worker.on('error', (error: Modules) => {
      cell.reason ||= error?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error'
    })
    worker.on('exit', () => end(id, cell.reason || 'exit'))
  }
  const queue = makeQueue(() => settings.atOnce, start)
  const take = (line: string): void => {
    last = Date.now()
    const type = line[0]
    const at = line.indexOf(' ', 2)
    const id = at < 0 ? line.slice(2) : line.slice(2, at)
    const cell = cells.get(id)
    if (type === 'S') queue.add(id, JSON.parse(line.slice(at + 1)))
    else if (type === 'P') queue.prefer(id)
    else if (type === 'M') cell?.worker.postMessage(line.slice(at + 1))
    else if (type === 'K') {
      if (queue.drop(id)) write(`E ${id} killed`)
      if (cell === undefined) return
      cell.reason = 'killed'
      cell.worker.terminate()
    } else if (type === 'L') {
      settings = JSON.parse(line.slice(2))
      watch(cells, settings, () => last)
    }
  }
  const feed = makeFeed(take)
  process.stdin.on('data', feed)
  process.stdin.on('end', () => process.exit(0))
  process.stdout.on('error', () => process.exit(0))
  feed(rest)
  write('U')
}

/** Loads a program that stands in the first line of standard input, as a `data:` URL: no file has to be readable. */
export const LOADER: string = [
  "const input = process.stdin.setEncoding('utf8')",
  "let text = ''",
  'const load = chunk => { text += chunk',
  "const at = text.indexOf('\\n')",
  'if (at < 0) return',
  "input.off('data', load).pause()",
  'import(text.slice(0, at)).then(({ run }) => { run(text.slice(at + 1)); input.resume() }) }',
  "input.on('data', load)"
].join('\n')

/**
 * The program of a thread. It is no module of the newer kind: those take Node 4 ms longer to load, each. Its names are in a block, so
 * that no other script of the thread sees them.
 */
const threadText = `'use strict'
{
const { parentPort, workerData } = require('node:worker_threads')
const [vm, fs, net, dgram] = ['vm', 'fs', 'net', 'dgram'].map(name => require('node:' + name))
const load = require
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name]
const closeThread = ${closeThread}
closeThread({ net, dgram, process })
const run = ${runThread}
const makeNatives = ${makeNatives}
run({ parentPort, workerData, vm, natives: makeNatives(() => load('node:crypto')), fs, process })
}`

/**
 * The program of the host, as the line that the loader reads: the address of a module.
 *
 * @param thread - the program of its threads, a script with `require`
 */
export const hostUrl = (thread: string = threadText): string => {
  const text = `import { Worker } from 'node:worker_threads'
import fs from 'node:fs'
const start = ${runHost}
const makeQueue = ${queueStarts}
const makeFeed = ${feedOf}
const watchCells = ${watchCells}
const watch = (cells, settings, lastMessage) => watchCells({ fs, process, lastMessage }, cells, settings)
export const run = rest => start({ Worker, watch, makeQueue, makeFeed, process }, ${JSON.stringify(thread)}, rest)`
  return `data:text/javascript,${encodeURIComponent(text)}`
}

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CellHost, HostedCell, HostHandlers } from '../cell-hosts.ts'
import type { EndReason } from '../platform.ts'
import { realmText } from '../realm.ts'
import { hostUrl, LOADER, type ThreadData } from './cell-programs.ts'

/** What a process that holds cells may take. */
export interface HostLimits {
  /** Bytes of the process, and for each of its cells; beyond them it is killed. */
  readonly memory: number
  readonly memoryPerCell: number
  /** Megabytes of a cell's own heap. */
  readonly heapMb: number
  /** Threads that start at the same time; one more than there are cores if left out. */
  readonly startAtOnce?: number
}

/**
 * A process without rights that holds cells, each a worker without rights of its own. It has an empty environment and an
 * empty working folder, reads its program from standard input, and keeps nobody waiting: unless a call is in flight, this
 * process ends although that one runs.
 */
export class HostProcess implements CellHost {
  readonly #handlers: HostHandlers
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #marks: number
  readonly #held = new Set<number>()
  /** Cells of which nothing has come, and that nothing waits for yet. */
  readonly #silent = new Set<number>()
  #isDead = false
  #nextCell = 1
  #complaint = ''
  #partial: string[] = []
  #partialLength = 0

  /** @param program - of the process, in one line */
  constructor(limits: HostLimits, handlers: HostHandlers, program: string = hostUrl()) {
    this.#handlers = handlers
    // Node lets a process read what its working folder is taken for, so that this one has an empty folder.
    this.#folder = makeFolder()
    let marks: number | undefined
    try {
      marks = openMarks(this.#folder)
      this.#marks = marks
      this.#child = spawn(process.execPath, [...FLAGS, '--allow-worker', ...HARDENING, '-e', LOADER], {
        cwd: this.#folder,
        env: process.platform === 'win32' ? { SystemRoot: process.env.SystemRoot } : {},
        stdio: ['pipe', 'pipe', 'pipe', marks],
        windowsHide: true
      })
    } catch (error) {
      if (marks !== undefined) closeSync(marks)
      removeFolder(this.#folder)
      throw error
    }
    this.#listen()
    const settings = {
      ...{ threadFlags: [...FLAGS, '--no-warnings'], maxMessage: MAX_LINE - 100 },
      ...{ memory: limits.memory, memoryPerCell: limits.memoryPerCell },
      ...{ realmText, atOnce: limits.startAtOnce ?? availableParallelism() + 1 },
      resourceLimits: {
        maxOldGenerationSizeMb: limits.heapMb,
        maxYoungGenerationSizeMb: 8,
        codeRangeSizeMb: 8,
        stackSizeMb: 2
      }
    }
    this.#write(`${program}\nL ${JSON.stringify(settings)}`)
    this.#ref(false)
  }

  /** The id of the process, for tests and figures. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  start(cell: HostedCell): number {
    const mark = this.#nextCell++
    const data: ThreadData = { ...cell, mark }
    this.#silent.add(mark)
    this.#write(`S ${mark} ${JSON.stringify(data)}`)
    return mark
  }

  send(cell: number, text: string): void {
    this.#write(`M ${cell} ${text}`)
  }

  end(cell: number): void {
    this.#silent.delete(cell)
    this.hold(cell, false)
    this.#write(`K ${cell}`)
  }

  hold(cell: number, isHeld: boolean): void {
    const before = this.#held.size
    if (isHeld) {
      this.#held.add(cell)
      if (this.#silent.delete(cell)) this.#write(`P ${cell}`)
    } else this.#held.delete(cell)
    if ((before === 0) !== (this.#held.size === 0)) this.#ref(isHeld)
  }

  close(): void {
    this.#isDead = true
    this.#child.kill('SIGKILL')
    this.#release()
  }

  #ref(isHeld: boolean): void {
    for (const part of [this.#child, this.#child.stdout, this.#child.stdin, this.#child.stderr]) {
      const handle = part as { ref?(): void; unref?(): void } | null
      if (isHeld) handle?.ref?.()
      else handle?.unref?.()
    }
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#child
    stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#take(chunk))
    stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#complaint = (this.#complaint + chunk).slice(-4000)
    })
    // What is written to a process that has just died; `close` tells of the death.
    stdin?.on('error', () => {})
    this.#child.on('error', () => this.#died(null))
    this.#child.on('close', (_, signal) => this.#died(signal))
  }

  #write(line: string): void {
    if (!this.#isDead) this.#child.stdin?.write(`${line}\n`)
  }

  /** Lines of a bounded length; a process that sends another is none of ours any more. */
  #take(chunk: string): void {
    const lines = chunk.split('\n')
    const rest = lines.pop() ?? ''
    for (const [index, line] of lines.entries()) {
      const whole = index === 0 ? this.#partial.join('') + line : line
      if (index === 0) {
        this.#partial = []
        this.#partialLength = 0
      }
      this.#read(whole)
    }
    this.#partial.push(rest)
    this.#partialLength += rest.length
    if (this.#partialLength > MAX_LINE) this.#child.kill('SIGKILL')
  }

  #read(line: string): void {
    if (this.#isDead) return
    const [, type, cell = '', text = ''] = /^([BME]) (\d{1,9}) (.*)$/s.exec(line) ?? []
    this.#silent.delete(Number(cell))
    if (type === 'B') this.#handlers.onBegin(Number(cell))
    else if (type === 'M') this.#handlers.onText(Number(cell), text)
    else if (type === 'E') {
      this.hold(Number(cell), false)
      this.#handlers.onCellEnd(Number(cell), REASONS.includes(text) ? (text as EndReason) : 'exit')
    }
  }

  #died(signal: NodeJS.Signals | null): void {
    if (this.#isDead) return
    this.#isDead = true
    const isMemory = /memory|allocation|heap/i.test(this.#complaint)
    // A cell that ran at that moment is only a suspect: the system kills for want of memory, the user for reasons of his own.
    const isForeign = signal === 'SIGKILL' && !isMemory
    const running = this.#running(!isForeign)
    this.#release()
    const reason = isMemory ? 'memory' : 'died'
    this.#handlers.onDeath({ reason, running, isForeign })
  }

  #running(orRecently: boolean): readonly number[] {
    const marks = Buffer.alloc(this.#nextCell)
    readSync(this.#marks, marks, 0, marks.length, 0)
    const cells = [...marks.keys()].filter(mark => mark > 0)
    const now = Math.floor(Date.now() / 100)
    const isRecent = (mark: number): boolean => ((now % 250) + 2 - mark + 250) % 250 <= 5
    const inside = cells.filter(cell => marks[cell] === 1)
    if (inside.length > 0 || !orRecently) return inside
    return cells.filter(cell => marks[cell] !== 0 && isRecent(marks[cell] ?? 0))
  }

  #release(): void {
    closeSync(this.#marks)
    removeFolder(this.#folder)
  }
}

/** The working folders of the processes that run: a program may end without closing its cells. */
const folders = new Set<string>()

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cells-'))
  if (folders.size === 0) process.once('exit', removeFolders)
  folders.add(folder)
  return folder
}

/** A file without a name, with a byte for each cell. */
const openMarks = (folder: string): number => {
  const path = join(folder, 'marks')
  const marks = openSync(path, 'wx+', 0o600)
  try {
    unlinkSync(path)
    return marks
  } catch (error) {
    closeSync(marks)
    throw error
  }
}

const removeFolder = (folder: string): void => {
  folders.delete(folder)
  if (folders.size === 0) process.off('exit', removeFolders)
  try {
    rmdirSync(folder)
  } catch {
    // Another process looks into it, or it is gone.
  }
}

const removeFolders = (): void => {
  for (const folder of folders) removeFolder(folder)
}

const FLAGS = [
  Number(process.versions.node.split('.')[0]) >= 22 ? '--permission' : '--experimental-permission'
]
const HARDENING = ['--no-warnings', '--no-addons', '--disallow-code-generation-from-strings']
const REASONS: readonly string[] = ['busy', 'error', 'exit', 'flood', 'killed', 'memory']
const MAX_LINE = 4_100_000

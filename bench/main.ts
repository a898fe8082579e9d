import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { checkPeer, installPeer, PEER, type PeerPackage } from './peer-package.ts'
import { textOfSection } from './print.ts'
import { type SectionContext, type SectionResult, WAITS_LINE } from './section.ts'
import { type NamedSection, sections } from './sections.ts'

// The benchmark: every section in a process of its own, one after another, so that none warms up or fills the
// memory of the next; while one does nothing but wait the next begins. A missed goal is printed as missed and is no failure; a
// wrong result is one.

interface Options {
  readonly only?: string
  readonly full?: boolean
  readonly json?: boolean
  readonly peer?: string
  readonly profile?: string
}

interface Report {
  readonly name: string
  readonly title: string
  readonly seconds: number
  readonly result?: SectionResult
  readonly error?: string
}

const main = async (): Promise<void> => {
  const options = parseOptions()
  const { only, json: isJson = false, full: isFull = false } = options
  const profileFolder = options.profile === undefined ? undefined : resolve(options.profile)
  const chosen = sections.filter(({ name }) => only === undefined || name === only)
  const say = (text: string): void => {
    if (!isJson) console.log(text)
  }
  const machine = machineOf()
  say(`Holdfast bench, ${machine.date}\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`)
  say(`load ${machine.load} · medians · CPU: the whole process, all threads`)
  const peer = await preparePeer(chosen, options.peer)
  const reason = peer !== undefined && peer.folder === undefined ? peer.reason : undefined
  if (reason !== undefined) say(`Without the peer: ${reason}`)
  let reports: readonly Report[] = []
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  try {
    const runs: Promise<Report>[] = []
    for (const section of chosen) {
      const { isIdle, report } = runApart(section, {
        peerFolder: peer?.folder,
        isFull,
        folder,
        profileFolder
      })
      runs.push(
        report.then(found => {
          say(textOfReport(found))
          return found
        })
      )
      await isIdle
    }
    reports = await Promise.all(runs)
  } finally {
    await rm(folder, { recursive: true, force: true })
    if (peer?.folder !== undefined) await peer.remove()
  }
  if (isJson) {
    const peerOf = peer === undefined ? null : reason === undefined ? PEER : { missing: reason }
    console.log(JSON.stringify({ machine, peer: peerOf, sections: reports }, undefined, 2))
  } else say(`\n${summaryOf(reports)}, in ${minutesOf(performance.now())}`)
  process.exitCode = reports.some(({ error }) => error !== undefined) ? 1 : 0
}

const parseOptions = (): Options => {
  const names = sections.map(({ name }) => name).join(', ')
  const program = new Command('npm run bench --')
    .description('Measures the cost of Holdfast and reports which goals are met.')
    .option('--only <name>', `one section: ${names}`)
    .option('--full', 'also the sizes for which the published core takes minutes')
    .option('--json', 'print one JSON document')
    .option(
      '--profile <folder>',
      'write CPU profiles of the size works into this folder; the works take longer then'
    )
    .option('--peer <folder>', `the folder with an installed ${PEER}; otherwise npm installs it for the run`)
    .parse()
  const options = program.opts<Options>()
  if (options.only !== undefined && !sections.some(({ name }) => name === options.only)) {
    program.error(`error: there is no section ${options.only}; there are ${names}`)
  }
  return options
}

const machineOf = (): Record<'date' | 'cpu' | 'node' | 'load', string> & { readonly cores: number } => ({
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model ?? 'unknown processor',
  cores: cpus().length,
  node: `${process.version} (OpenSSL ${process.versions.openssl})`,
  load: loadavg()
    .map(value => value.toFixed(1))
    .join(' ')
})

const preparePeer = async (
  chosen: readonly NamedSection[],
  folder: string | undefined
): Promise<PeerPackage | undefined> => {
  if (folder !== undefined) return checkPeer(folder)
  return chosen.some(({ needsPeer }) => needsPeer) ? installPeer() : undefined
}

interface SectionRun {
  /** Resolves when its process has ended, or only waits. */
  readonly isIdle: Promise<unknown>
  readonly report: Promise<Report>
}

const runApart = ({ name, title }: NamedSection, context: SectionContext): SectionRun => {
  const script = fileURLToPath(new URL('section-process.js', import.meta.url))
  const args = ['--enable-source-maps', script, name, JSON.stringify(context)]
  const began = performance.now()
  const seconds = (): number => Math.round((performance.now() - began) / 1000)
  const running = promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 })
  const report = running
    .then(({ stdout }): Report => {
      const result = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as SectionResult
      return { name, title, seconds: seconds(), result }
    })
    .catch(({ stderr, message }: { stderr?: string; message: string }): Report => {
      const error = (stderr || message).trim().slice(0, 4000)
      return { name, title, seconds: seconds(), error }
    })
  const waits = new Promise<void>(resolve =>
    running.child.stdout?.on('data', chunk => String(chunk).includes(WAITS_LINE) && resolve())
  )
  return { isIdle: Promise.race([waits, report]), report }
}

const textOfReport = ({ title, seconds, result, error }: Report): string =>
  `${result === undefined ? `\n${title}\nFAILED: ${error}` : textOfSection(title, result)}\n(${seconds} s)`

/** The time since the program began: `9 min 12 s`. */
const minutesOf = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const summaryOf = (reports: readonly Report[]): string => {
  const goals = reports.flatMap(({ result }) => result?.rows.flatMap(({ goals: own = [] }) => own) ?? [])
  const missed = goals.filter(({ isMet }) => !isMet).length
  const failed = reports.filter(({ error }) => error !== undefined).length
  const sum = `${goals.length - missed} goals met, ${missed} missed`
  return failed === 0 ? sum : `${sum}; ${failed} sections failed`
}

await main()

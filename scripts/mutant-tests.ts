import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MutantTree } from './mutant-tree.ts'

/** The parts of a file that a test executed: where one begins and ends, in turn, in characters from 0. */
export type Executed = readonly number[]

/** What a test executed of one file, as the file was then. */
interface ExecutedFile {
  readonly stamp: string
  readonly parts: Executed
}

/** What is known of one test file. */
export interface TestFacts {
  readonly file: string
  /** Over the contents of the test and its helpers; another text, and the test is looked at again. */
  readonly stamp: string
  readonly helpers: readonly string[]
  /** False for one that fails in unbroken code: no mutant is judged by it. */
  readonly passes: boolean
  readonly ms: number
  readonly executed: Readonly<Record<string, ExecutedFile>>
}

/** Every test file of `npm test`, as paths below the root. */
export const unitTests = (root: string): string[] => {
  const apart = ['author', 'proofs', 'interop', 'nodes', 'browser', 'cli/agent'].map(
    suite => `dist/test/${suite}/`
  )
  return readdirSync(join(root, 'dist/test'), { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.test.js'))
    .map(entry => relative(root, join(entry.parentPath, entry.name)))
    .filter(file => !apart.some(folder => file.startsWith(folder)))
    .sort()
}

/** The proofs that run in one process and take no more than a minute or two; the others start programs. */
const PROOFS = [
  'bad-plugins',
  'credential-changes',
  'devices',
  'full-disk',
  'history-oracle',
  'hostile-edge-login',
  'hostile-server',
  'hostile-sync-server',
  'interrupted-changes',
  'paid-once-by-liars',
  'payment-calls',
  'repo-stories',
  'store-stories',
  'swap-plugins',
  'swap-stories',
  'three-devices',
  'username-crash',
  'utxo-hostile'
]

/** The proofs that a survivor of the unit tests is shown to, as paths below the root. Throws if one has another name. */
export const proofTests = (root: string): string[] =>
  PROOFS.map(name => {
    const file = `dist/test/proofs/${name}.test.js`
    if (!existsSync(join(root, file))) throw new Error(`The proof ${file} no longer exists.`)
    return file
  })

const stampOf = (root: string, files: readonly string[]): string => {
  const hash = createHash('sha256')
  for (const file of files) {
    const path = join(root, file)
    hash.update(`${file}\0`).update(existsSync(path) ? readFileSync(path) : 'gone')
  }
  return hash.digest('hex')
}

/** The facts that an earlier run found and that still hold. */
export const readFacts = (root: string, path: string): Map<string, TestFacts> => {
  if (!existsSync(path)) return new Map()
  const kept = JSON.parse(readFileSync(path, 'utf8')) as TestFacts[]
  const valid = kept.filter(({ passes, stamp, helpers }) => passes && stamp === stampOf(root, helpers))
  return new Map(valid.map(facts => [facts.file, facts]))
}

/** Keeps facts for later runs. */
export const writeFacts = (path: string, facts: Iterable<TestFacts>): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify([...facts]))
}

/** What `lookAtTest` needs beside the test. */
export interface LookOptions {
  readonly root: string
  /** The files whose executed parts are noted. */
  readonly isTarget: (file: string) => boolean
  readonly limitMs: number
  readonly env: NodeJS.ProcessEnv
}

/** Runs one test file in unbroken code, and notes what it executes of the files that `isTarget` names. */
export const lookAtTest = async (
  tree: MutantTree,
  file: string,
  { root, isTarget, limitMs, env }: LookOptions
): Promise<TestFacts> => {
  const folder = mkdtempSync(join(tree.folder, 'tmp', 'coverage-'))
  const start = performance.now()
  const run = await tree.run([file], { limitMs: () => limitMs, env: { ...env, NODE_V8_COVERAGE: folder } })
  const ms = Math.round(performance.now() - start)
  const masks = new Map<string, Uint8Array>()
  const helpers = new Set([file])
  // One report for each process: a test may start others.
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as V8Report
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue
      const source = relative(tree.folder, fileURLToPath(url))
      if (source.startsWith('dist/test/')) helpers.add(source)
      if (isTarget(source)) markExecuted(masks, join(tree.folder, source), { source, functions })
    }
  }
  rmSync(folder, { recursive: true, force: true })
  const found = [...masks].map(([source, mask]) => {
    return [source, { stamp: stampOf(tree.folder, [source]), parts: edgesOf(mask) }]
  })
  const executed: TestFacts['executed'] = Object.fromEntries(found)
  const files = [...helpers].sort()
  const passes = run.end === 'passed'
  return { file, stamp: stampOf(root, files), helpers: files, passes, ms, executed }
}

interface V8Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly V8Function[] }[]
}

interface V8Function {
  readonly ranges: readonly {
    readonly startOffset: number
    readonly endOffset: number
    readonly count: number
  }[]
}

const markExecuted = (
  masks: Map<string, Uint8Array>,
  path: string,
  { source, functions }: { source: string; functions: readonly V8Function[] }
): void => {
  const mask = new Uint8Array(statSync(path).size)
  // Of nested blocks the innermost decides, so it is painted last.
  const ranges = functions.flatMap(one => one.ranges)
  const length = (range: (typeof ranges)[number]): number => range.endOffset - range.startOffset
  for (const range of ranges.sort((a, b) => length(b) - length(a))) {
    mask.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset)
  }
  const before = masks.get(source)
  if (before !== undefined)
    for (let at = 0; at < mask.length; at += 1) mask[at] = (mask[at] ?? 0) | (before[at] ?? 0)
  masks.set(source, mask)
}

/** Where the executed parts begin and end. */
const edgesOf = (mask: Uint8Array): number[] => {
  const edges: number[] = []
  let previous = 0
  for (const [at, value] of mask.entries()) {
    if (value !== previous) edges.push(at)
    previous = value
  }
  return edges
}

/** Whether a place lies in an executed part. */
const isExecuted = (executed: Executed, at: number): boolean => {
  let inside = false
  for (const edge of executed) {
    if (edge > at) break
    inside = !inside
  }
  return inside
}

/**
 * The tests that execute a place, those first that fail soonest: of the same room, and quick. Of a file that has changed
 * since, all tests that loaded it.
 */
export const testsOf = (
  root: string,
  facts: readonly TestFacts[],
  { file, start }: { readonly file: string; readonly start: number }
): TestFacts[] => {
  const stamp = stampOf(root, [file])
  const reaches = ({ executed }: TestFacts): boolean => {
    const known = executed[file]
    return known !== undefined && (known.stamp !== stamp || isExecuted(known.parts, start))
  }
  return facts
    .filter(test => test.passes && reaches(test))
    .map(test => ({ test, cost: test.ms / 4 ** sharedFolders(test.file, file) }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ test }) => test)
}

/** How many folders of a path a test shares with the file: tests mirror the sources. */
const sharedFolders = (test: string, file: string): number => {
  const theirs = test.replace('dist/test/', '').split('/')
  const ours = file.replace('dist/', '').split('/')
  let shared = 0
  while (shared < theirs.length && theirs[shared] === ours[shared]) shared += 1
  return shared
}

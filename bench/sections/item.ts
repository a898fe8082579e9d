import { openText, sealText } from '../../kernel/crypto/box.ts'
import type { Io } from '../../kernel/index.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type Cost, median } from '../measure.ts'
import { openPeerItems, type PeerFolder, type PeerItems } from '../peer-items.ts'
import { type LibraryBoxes, loadLibraryBoxes } from '../peer-libraries.ts'
import { PEER } from '../peer-package.ts'
import { type Contender, type RaceResult, race } from '../race.ts'
import { atLeast, check, type Row, rowOf, type Section } from '../section.ts'

/** One stored item sealed and opened, by Node's crypto and by noble alone, against the peer. */
export const item: Section = async ({ peerFolder }) => {
  const ios = { node: makeNodeIo(), noble: makeNodeIo({ crypto: 'noble' }) }
  const peer =
    peerFolder === undefined
      ? undefined
      : {
          items: await openPeerItems(peerFolder),
          libraries: loadLibraryBoxes(peerFolder, ios.node.random)
        }
  const rows: Row[] = []
  for (const size of SIZES) rows.push(...(await raceAt({ size, ios, peer })))
  return { rows, notes: peer === undefined ? [WITHOUT_PEER] : NOTES }
}

const SIZES = [330, 2048, 102_400]
const ROUNDS = 7
const SAMPLE_MS = 40

const WITHOUT_PEER = `Without ${PEER} no ratio is given.`

const NOTES = [
  'An item: text to the JSON text of a box, and back.',
  `The published core, through its public interface: setText and getText of account.disklet in its own fake ` +
    'world in memory, many at a time; the same calls of account.localDisklet, which seal nothing, are measured ' +
    'in the same round and taken off. What is left is its box, with the paths, the parsing and the pending ' +
    'folder that belong to a sealed item of it. Its wall time is not given: its bridge waits.',
  'Its libraries alone: the same format written over aes-js, hash.js and rfc4648 as the package installs them, ' +
    'with no more copies than ours and with Node’s own UTF-8 and randomness; less than the published core itself ' +
    'needs. No goal is set on it.'
]

interface Ios {
  readonly node: Io
  readonly noble: Io
}

interface PeerForms {
  readonly items: PeerItems
  readonly libraries: LibraryBoxes
}

interface ItemWork {
  readonly size: number
  readonly ios: Ios
  readonly peer: PeerForms | undefined
}

const raceAt = async ({ size, ios, peer }: ItemWork): Promise<Row[]> => {
  const key = ios.node.random(32)
  const text = JSON.stringify({ notes: 'x'.repeat(size - '{"notes":""}'.length) })
  const seal = (io: Io): string => JSON.stringify(sealText(io, key, text))
  const open = (io: Io, sealed: string): string => openText(io, key, JSON.parse(sealed) as Box)
  const sealed = seal(ios.node)
  check(open(ios.noble, sealed) === text, 'an item that Node sealed and noble opened')
  check(open(ios.node, seal(ios.noble)) === text, 'an item that noble sealed and Node opened')
  if (peer !== undefined) {
    check(open(ios.node, peer.libraries.seal(key, text)) === text, 'an item that its libraries sealed')
    check(peer.libraries.open(key, sealed) === text, 'an item that its libraries opened')
  }
  const sealing = await raceOne(
    { size, text, verb: 'set' },
    [
      { name: 'node', run: () => seal(ios.node) },
      { name: 'noble', run: () => seal(ios.noble) },
      ...(peer === undefined ? [] : [{ name: 'libraries', run: () => peer.libraries.seal(key, text) }])
    ],
    peer?.items
  )
  const opening = await raceOne(
    { size, text, verb: 'get' },
    [
      { name: 'node', run: () => open(ios.node, sealed) },
      { name: 'noble', run: () => open(ios.noble, sealed) },
      ...(peer === undefined ? [] : [{ name: 'libraries', run: () => peer.libraries.open(key, sealed) }])
    ],
    peer?.items
  )
  const label = size < 1000 ? `${size} B` : `${Math.round(size / 1024)} KB`
  return [...rowsOf(`seal ${label}`, sealing), ...rowsOf(`open ${label}`, opening)]
}

interface PeerWork {
  readonly size: number
  readonly text: string
  readonly verb: 'set' | 'get'
}

interface ItemRace {
  readonly result: RaceResult
  /** What a sealed item takes more than a plain one, round by round. */
  readonly peer: readonly Cost[] | undefined
  readonly hasLibraries: boolean
}

const raceOne = async (
  work: PeerWork,
  ours: readonly Contender[],
  items: PeerItems | undefined
): Promise<ItemRace> => {
  const repeated = ours.map(contender => ({ ...contender, sampleMs: SAMPLE_MS }))
  const theirs =
    items === undefined
      ? []
      : [peerContender('sealed', items.sealed, work), peerContender('plain', items.plain, work)]
  const result = await race([...repeated, ...theirs], { rounds: ROUNDS, warmUp: 3 })
  const plain = items === undefined ? [] : result.samples('plain')
  const peer =
    items === undefined
      ? undefined
      : result.samples('sealed').map((cost, i) => ({
          cpuMs: cost.cpuMs - (plain[i]?.cpuMs ?? 0),
          wallMs: cost.wallMs - (plain[i]?.wallMs ?? 0)
        }))
  return { result, peer, hasLibraries: items !== undefined }
}

/** Many calls at a time, so that the peer's bridge carries them in one message. */
const peerContender = (name: string, folder: PeerFolder, { size, text, verb }: PeerWork): Contender => {
  const batch = size > 10_000 ? 8 : 400
  const paths = Array.from({ length: batch }, (_, i) => `item ${size} ${i}.json`)
  const run = (): Promise<unknown[]> =>
    Promise.all(paths.map(path => (verb === 'set' ? folder.setText(path, text) : folder.getText(path))))
  return {
    name,
    batch,
    run,
    after: async () => check((await folder.getText(paths[0] as string)) === text, 'an item of the peer')
  }
}

const rowsOf = (name: string, { result, peer, hasLibraries }: ItemRace): Row[] => {
  const row = (backend: 'node' | 'noble', title: string, factor: number): Row => {
    const cost = result.cost(backend)
    const own = result.samples(backend)
    const ratio = peer && median(peer.map(({ cpuMs }, i) => cpuMs / (own[i]?.cpuMs ?? Number.NaN)))
    const goals =
      ratio === undefined ? [] : [atLeast(`at least ${factor} times the published core`, ratio, factor)]
    const facts = hasLibraries ? { 'times its libraries alone': result.ratio('libraries', backend) } : {}
    return rowOf(`${name}, ${title}`, cost, { facts, goals })
  }
  const rows = [row('node', 'Node', 5), row('noble', 'noble', 3)]
  if (peer !== undefined)
    rows.push({ name: `${name}, ${PEER}`, cpuMs: median(peer.map(({ cpuMs }) => cpuMs)) })
  if (hasLibraries) rows.push(rowOf(`${name}, its libraries`, result.cost('libraries')))
  return rows
}

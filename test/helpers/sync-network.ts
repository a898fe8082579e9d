import { FakeDb } from '../../fake-server/accounts/fake-db.ts'
import { FakeServer } from '../../fake-server/routes/fake-server.ts'
import { openText } from '../../kernel/crypto/box.ts'
import type { FetchOptions } from '../../kernel/io/io.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { type EditHistory, REPEATED } from './edit-history.ts'
import { dataKey } from './repo-device.ts'
import {
  type EditsByPath,
  failureOf,
  type News,
  Wire,
  type WireReply,
  type WireRequest,
  type WireServer
} from './sync-wire.ts'
import { fieldsOf } from './synced-file.ts'

/** A version of a file on the server: its box, and the edits that went into it. */
interface Version {
  readonly box: string | undefined
  readonly edits: ReadonlySet<number>
  /** The number of the request that wrote it. */
  readonly at: number
}

interface State {
  readonly db: FakeDb
  readonly versions: Map<string, Version>
}

/** A sync server and the wires of all devices; it keeps the books of who was told which edits. */
export class SyncNetwork implements WireServer {
  /** How often each trouble met a request. */
  readonly faultCounts: Map<string, number> = new Map()
  /** The time of day for all devices, in milliseconds since 1970: each edit takes a second. */
  now: number = makeFakeClock().now()
  /** Whether a hash that the server does not know is an error, or means "everything". */
  isStrict = false
  readonly #history: EditHistory
  readonly #key: string
  readonly #past: State[] = []
  /** What a device sent and the server took, without the device hearing of it. */
  readonly #undelivered = new Map<string, ReadonlySet<number>>()
  /** The edits in each box that was sent. */
  readonly #sent = new Map<string, ReadonlySet<number>>()
  readonly #deployed = new Set<string>()
  /** Who was told something. */
  readonly #known = new Set<string>()
  /** Who asked for everything once more: the server forgot the hash, or the device lost it. */
  readonly #strangers = new Set<string>()
  #state: State
  #server: FakeServer
  #count = 0

  constructor(history: EditHistory, key: string) {
    this.#history = history
    this.#key = key
    const db = new FakeDb(crypto)
    db.createRepos([key])
    this.#state = { db, versions: new Map() }
    this.#server = serverOf(db)
  }

  wire(device: string, isDeployed = false): Wire {
    if (isDeployed) this.#deployed.add(device)
    return new Wire(this, { device, isDeployed })
  }

  /**
   * Puts an older copy of the server in its place: that of `steps` changes ago, or of the beginning.
   *
   * Of the files that are older there, the edits so far may be lost: no device knows that it has the newer text.
   */
  replace(steps: number): void {
    const older = this.#past.at(-steps) ?? this.#past[0]
    if (older === undefined) return
    this.note('server replaced')
    const present = this.#state.versions
    this.#past.splice(this.#past.indexOf(older))
    this.#state = copyOf(older)
    this.#server = serverOf(this.#state.db)
    const { versions } = this.#state
    for (const [path, { box }] of present) {
      const version = versions.get(path)
      if (version?.box === box) continue
      this.#history.excuse(this.#history.editsOf(path), 'server replaced')
      if (version !== undefined)
        versions.set(path, { ...version, edits: this.#repeated(path, version.edits) })
    }
  }

  note(what: string): void {
    this.faultCounts.set(what, (this.faultCounts.get(what) ?? 0) + 1)
  }

  async serve(request: WireRequest): Promise<WireReply> {
    const { sender, url, options, knowledge } = request
    this.#count += 1
    const { method = 'GET', headers = {}, body = '' } = options
    const path = new URL(url).pathname
    const hash = path.split('/')[5] ?? ''
    const isKnown = this.#state.db.repo(this.#key)?.hashes.some(([known]) => known === hash) ?? false
    if (this.isStrict && hash !== '' && !isKnown) return failureOf(404)
    const before = method === 'POST' ? copyOf(this.#state) : this.#state
    const {
      status,
      body: text,
      headers: replied
    } = await this.#server.handle({ method, path, headers, body })
    const reply = { status, headers: replied, text }
    if (status !== 200) return { reply, news: undefined }
    if (method === 'POST') {
      this.#write(request, before)
      if (!sender.isDeployed) {
        for (const [name, edits] of knowledge) this.#undelivered.set(`${sender.device} ${name}`, edits)
      }
    }
    const { changes } = JSON.parse(text) as { changes: Changes }
    const { versions } = this.#state
    // Who asks for everything is not told what there is no more.
    const gone = isKnown ? [] : [...versions].filter(([, { box }]) => box === undefined).map(([name]) => name)
    if (hash === '' && this.#known.has(sender.device)) this.#strangers.add(sender.device)
    const edits = [...Object.keys(changes), ...gone].map(
      name => [name, versions.get(name)?.edits ?? NONE] as const
    )
    return { reply, news: { received: [...knowledge.keys()], edits: new Map(edits), at: this.#count } }
  }

  emit(device: string, { edits }: News): void {
    this.#known.add(device)
    for (const [path, ids] of edits) {
      const sent = this.#undelivered.get(`${device} ${path}`)
      // Whether a deployed client has seen what arrived unheard, its text does not say.
      const isBuiltOn = sent !== undefined && minus(sent, ids).length === 0
      if (isBuiltOn) this.#excuseDeployed(minus(ids, sent))
      this.#history.show(device, path, ids)
    }
  }

  confirm(device: string, { received }: News): void {
    for (const path of received) this.#undelivered.delete(`${device} ${path}`)
  }

  knowledgeOf(device: string, options: FetchOptions): EditsByPath {
    const knowledge = new Map<string, ReadonlySet<number>>()
    for (const [path, box] of Object.entries(changesOf(options))) {
      // Of a box that is sent once more, what went into it is known.
      const key = `${device} ${path} ${JSON.stringify(box)}`
      const known = this.#sent.get(key) ?? this.#editsIn(device, path, box)
      if (box !== null) this.#sent.set(key, known)
      knowledge.set(path, known)
    }
    return knowledge
  }

  #editsIn(device: string, path: string, box: Box | null): ReadonlySet<number> {
    const text = box === null ? undefined : openText({ crypto }, dataKey, box)
    this.#history.showValues(device, path, fieldsOf(path, text).values())
    return new Set(this.#history.seenBy(device, path))
  }

  #write({ sender, options, knowledge }: WireRequest, before: State): void {
    const { versions } = this.#state
    let isNew = false
    for (const [path, content] of Object.entries(changesOf(options))) {
      const box = content === null ? undefined : JSON.stringify(content)
      const present = versions.get(path)
      if (present?.box === box) continue
      isNew = true
      const known = knowledge.get(path) ?? NONE
      const edits = this.#editsOf(path, { sender, present, known })
      versions.set(path, { box, edits, at: this.#count })
    }
    if (isNew) this.#past.push(before)
  }

  /** The edits that are in a version that is written over another one, or that its sender chose to overwrite. */
  #editsOf(path: string, { sender, present, known }: Overwriting): ReadonlySet<number> {
    const edits = new Set(known)
    const unknown = minus(present?.edits ?? NONE, known)
    const reason = unknown.length === 0 ? undefined : blindnessOf(sender, present?.at ?? 0)
    if (reason === undefined) {
      for (const id of unknown) edits.add(id)
    } else {
      this.note(`overwritten: ${reason}`)
      // Whose file is written over merges it again or says so, but a deployed client.
      this.#excuseDeployed(unknown)
    }
    // Who heard of no success may send an old text again, and so may who was told that the server knows nothing.
    const isUndelivered = this.#undelivered.has(`${sender.device} ${path}`)
    const isAgain = reason === 'deployed client' || isUndelivered || this.#strangers.has(sender.device)
    return isAgain ? this.#repeated(path, edits) : edits
  }

  #excuseDeployed(ids: readonly number[]): void {
    const isDeployed = (id: number): boolean => this.#deployed.has(this.#history.edits[id]?.device ?? '')
    this.#history.excuse(ids.filter(isDeployed), 'deployed client')
  }

  /** An old text that comes once more is an edit to those who see it, and undoes a deletion. */
  #repeated(path: string, edits: ReadonlySet<number>): ReadonlySet<number> {
    return new Set([...edits, this.#history.begin('', { path, field: REPEATED, value: 'again' }).id])
  }
}

interface Overwriting {
  readonly sender: Wire
  readonly present: Version | undefined
  readonly known: ReadonlySet<number>
}

type Changes = Readonly<Record<string, Box | null>>

const { crypto } = makeNodeIo()
const NONE: ReadonlySet<number> = new Set()

/** Why nobody can blame a sender for overwriting a version of that age; undefined if it should have known it. */
const blindnessOf = (
  { isDeployed, reportedAt, hasFailed }: Wire,
  at: number
): 'deployed client' | 'raced' | undefined => {
  if (isDeployed) return 'deployed client'
  return at > reportedAt && !hasFailed ? 'raced' : undefined
}

const minus = (ids: ReadonlySet<number>, others: ReadonlySet<number>): number[] =>
  [...ids].filter(id => !others.has(id))

const changesOf = ({ body = '{}' }: FetchOptions): Changes =>
  (JSON.parse(body) as { changes?: Changes }).changes ?? {}

const serverOf = (db: FakeDb): FakeServer => new FakeServer({ crypto, clock: makeFakeClock() }, db)

const copyOf = ({ db, versions }: State): State => {
  const copy = new FakeDb(crypto)
  for (const entry of db.entries()) copy.apply(entry)
  return { db: copy, versions: new Map(versions) }
}

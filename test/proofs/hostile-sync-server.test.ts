import type { ExecutionContext } from 'ava'
import test from 'ava'
import type { FakeReply } from '../../fake-server/base/replies.ts'
import { sealText } from '../../kernel/crypto/box.ts'
import { type Account, isWalletError } from '../../kernel/index.ts'
import type { Box, WalletInfo } from '../../kernel/types/keys.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { passWalletError } from '../helpers/drawn-runs.ts'
import { type KnownUser, makeKnownUser } from '../helpers/known-user.ts'
import { makeToy } from '../helpers/toy-currency.ts'
import { toyToken } from '../helpers/toy-home.ts'

const io = makeNodeIo()
const { crypto } = io

type Boxes = Readonly<Record<string, Box | null>>

/** What a hostile server knows when it answers. */
interface Scene {
  readonly method: string
  /** Counts the requests of the attack, from 0. */
  readonly count: number
  readonly honest: FakeReply
  /** What it has of the repo: now, before the last edits, and of another repo of the same user. */
  readonly present: Boxes
  readonly old: Boxes
  readonly foreign: Boxes
  readonly hashes: readonly string[]
  /** What an upload carries. */
  readonly uploaded: Boxes
}

/** One kind of hostile sync server: its answer, or undefined for the honest one. */
interface Kind {
  readonly name: string
  answer(scene: Scene): string | { readonly status: number; readonly text: string } | undefined
}

const NEW_HASH = 'f'.repeat(40)
const replyOf = (changes: unknown, hash: unknown = NEW_HASH): string => JSON.stringify({ changes, hash })
const each = (
  boxes: Boxes,
  make: (path: string, i: number, paths: readonly string[]) => Box | null
): Boxes => {
  const paths = Object.keys(boxes)
  return Object.fromEntries(paths.map((path, i) => [path, make(path, i, paths)]))
}
const NO_BOX: Box = { encryptionType: 0, iv_hex: '0'.repeat(32), data_base64: 'A'.repeat(1024) }
const many = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`junk/${i}`, value]))
const nullsOf = (boxes: Boxes, from: number, to: number): Boxes =>
  Object.fromEntries(
    Object.keys(boxes)
      .slice(from, to)
      .map(path => [path, null])
  )
const ofFolder = (boxes: Boxes, folder: string): Boxes =>
  Object.fromEntries(Object.entries(boxes).filter(([path]) => path.startsWith(folder)))

const KINDS: readonly Kind[] = [
  {
    name: 'each box under the next path',
    answer: ({ present }) =>
      replyOf(each(present, (_, i, paths) => present[paths[(i + 1) % paths.length] ?? ''] ?? null))
  },
  {
    name: 'one box under every path',
    answer: ({ present }) => replyOf(each(present, () => Object.values(present)[0] ?? null))
  },
  {
    name: 'items of one store under those of another',
    answer: ({ present }) => {
      const folders = [
        ...new Set(Object.keys(ofFolder(present, 'Plugins/')).map(path => path.split('/')[1] ?? ''))
      ]
      return replyOf(
        each(ofFolder(present, 'Plugins/'), path => {
          const other = folders.find(folder => !path.includes(folder)) ?? ''
          return present[path.replace(/^Plugins\/[^/]+/, `Plugins/${other}`)] ?? present[path] ?? null
        })
      )
    }
  },
  {
    name: 'boxes of another repo',
    answer: ({ present, foreign }) => replyOf(each(present, () => Object.values(foreign)[0] ?? null))
  },
  { name: 'the whole other repo', answer: ({ foreign }) => replyOf(foreign) },
  {
    name: 'an old box of one file',
    answer: ({ old }) => replyOf(Object.fromEntries(Object.entries(old).slice(0, 1)))
  },
  { name: 'old boxes of all files', answer: ({ old }) => replyOf(old) },
  { name: 'old boxes under an old hash', answer: ({ old, hashes }) => replyOf(old, hashes[0]) },
  { name: 'an old hash and no change', answer: ({ hashes }) => replyOf({}, hashes[0]) },
  {
    name: 'an unknown hash, then the old state as everything',
    answer: ({ old, count, hashes }) =>
      count % 2 === 0 ? { status: 404, text: '{}' } : replyOf(old, hashes[0])
  },
  {
    name: 'an unknown hash, then an empty repo',
    answer: ({ count }) => (count % 2 === 0 ? { status: 404, text: '{}' } : replyOf({}))
  },
  {
    name: 'old and new states in turn',
    answer: ({ old, present, count }) => replyOf(count % 2 === 0 ? old : present, `${count}`)
  },
  { name: 'every file deleted', answer: ({ present }) => replyOf(nullsOf(present, 0, 9999)) },
  { name: 'fifty files deleted', answer: ({ present }) => replyOf(nullsOf(present, 0, 50)) },
  {
    name: 'one file deleted with each reply',
    answer: ({ present, count }) => replyOf(nullsOf(present, count, count + 1), `${count}`)
  },
  {
    name: 'deleted, and back as an old box',
    answer: ({ present, old, count }) => replyOf(count % 2 === 0 ? nullsOf(present, 0, 9) : old, `${count}`)
  },
  {
    name: 'boxes that open nothing in every place',
    answer: ({ present }) => replyOf(each(present, () => NO_BOX))
  },
  { name: 'ten thousand boxes that open nothing', answer: () => replyOf(many(10_000, NO_BOX)) },
  {
    name: 'boxes of an unknown encryption',
    answer: ({ present }) =>
      replyOf(each(present, path => ({ ...(present[path] ?? NO_BOX), encryptionType: 7 })))
  },
  {
    name: 'nine million letters in boxes that open nothing',
    answer: ({ present }) => replyOf(each(present, () => ({ ...NO_BOX, data_base64: 'A'.repeat(130_000) })))
  },
  { name: 'twenty million brackets', answer: () => '['.repeat(20_000_000) },
  { name: 'brackets in place of a box', answer: () => `{"changes":{"a":${'['.repeat(5_000_000)}` },
  {
    name: 'five million numbers beside the changes',
    answer: () => `{"x":[${'0,'.repeat(5_000_000)}0],"changes":{}}`
  },
  { name: 'no JSON', answer: () => '<html>maintenance</html>' },
  { name: 'a reply that is cut', answer: ({ present }) => replyOf(present).slice(0, -100) },
  { name: 'a list of changes', answer: ({ present }) => replyOf(Object.entries(present)) },
  { name: 'numbers and texts for boxes', answer: ({ present }) => replyOf(each(present, () => 7 as never)) },
  {
    name: 'paths that lead out of the repo',
    answer: ({ present }) =>
      replyOf({ '../../logins/x.json': NO_BOX, '/etc/x': NO_BOX, 'a//b': NO_BOX, ...present })
  },
  {
    name: 'paths that reach prototypes',
    answer: () => '{"changes":{"__proto__":null,"a/constructor":null,"prototype":{"x":1}},"hash":"ab"}'
  },
  { name: 'three hundred thousand deletions', answer: () => replyOf(many(300_000, null)) },
  {
    name: 'a hash that would change the address',
    answer: ({ present }) => replyOf(present, '../../v2/login')
  },
  { name: 'a hash of a thousand letters', answer: ({ present }) => replyOf(present, 'a'.repeat(1000)) },
  { name: 'nothing but errors', answer: () => ({ status: 500, text: '{}' }) },
  { name: 'no repo of this name', answer: () => ({ status: 404, text: '{"msg":"Hash not found"}' }) },
  {
    name: 'uploads that are answered as deleted',
    answer: ({ method, uploaded }) => (method === 'POST' ? replyOf(each(uploaded, () => null)) : undefined)
  },
  {
    name: 'uploads that are answered with old boxes',
    answer: ({ method, old }) => (method === 'POST' ? replyOf(old) : undefined)
  },
  {
    name: 'uploads that are answered with another’s box',
    answer: ({ method, uploaded, present }) =>
      method === 'POST' ? replyOf(each(uploaded, () => Object.values(present).at(-1) ?? null)) : undefined
  },
  {
    name: 'uploads that are answered without a hash',
    answer: ({ method }) => (method === 'POST' ? '{"changes":{}}' : undefined)
  },
  {
    name: 'escaped paths, in an unusual spelling',
    answer: ({ old }) => replyOf(old).replaceAll('/', '\\u002f').replace('{', ' { ')
  }
]

const STORES = ['shop', 'notes']
const ITEMS = Array.from({ length: 35 }, (_, i) => `item-${i}`)
const SYNCS = 4

/** Everything that the account holds and that a server could take away, as texts by name. */
const contentOf = async (account: Account): Promise<Map<string, string>> => {
  const content = new Map<string, string>()
  for (const store of await account.dataStore.listStoreIds())
    for (const id of await account.dataStore.listItemIds(store).catch(() => []))
      content.set(`${store} ${id}`, await account.dataStore.getItem(store, id).catch(String))
  for (const result of await account.openAllWallets()) {
    if (!result.ok) continue
    const { name, fiatCurrencyCode, enabledTokenIds } = result.wallet.getSnapshot()
    content.set(`wallet ${result.walletId}`, JSON.stringify([name, fiatCurrencyCode, enabledTokenIds]))
  }
  const { archivedWalletIds, hiddenWalletIds } = account.getSnapshot()
  content.set('states', JSON.stringify([archivedWalletIds, hiddenWalletIds]))
  content.set('settings', JSON.stringify(account.currencyConfig('toycoin').getSnapshot().userSettings))
  return content
}

const keyOf = ({ keys }: WalletInfo): string => crypto.toHex(crypto.fromBase64(String(keys.syncKey)))

const boxesOf = (user: KnownUser, key: string): Boxes =>
  Object.fromEntries(
    [...(user.world.server.db.repo(key)?.files ?? [])].map(([path, { content }]) => [path, content])
  )

/** Fills an account in two rounds, so that each file has an old version. */
const fill = async (user: KnownUser, account: Account): Promise<Boxes> => {
  const names = ['One', 'Two', 'Three', 'Four']
  await account.createCurrencyWallets(
    names.map(name => ({ type: 'wallet:toycoin', name, enabledTokenIds: ['a'] }))
  )
  let old: Boxes = {}
  for (const round of ['first', 'second']) {
    for (const store of STORES)
      for (const id of ITEMS) await account.dataStore.setItem(store, id, `${round} ${store} ${id}`)
    const [one = '', two = ''] = account.getSnapshot().walletIds
    await account.changeWalletStates({
      [one]: { archived: round === 'second' },
      [two]: { hidden: round === 'second' }
    })
    await account.currencyConfig('toycoin').changeUserSettings({ round })
    await account.sync()
    if (round === 'first') old = boxesOf(user, keyOf(user.repo))
  }
  return old
}

/** Restores one version after the other of what is missing, and undoes what did not help, as a person would. */
const bringBack = async (account: Account, lost: () => Promise<readonly string[]>): Promise<void> => {
  const kept = (await account.keptFiles.list()).filter(({ canRestore }) => canRestore)
  for (const { id, path, kind, title = '' } of kept.reverse()) {
    const missing = await lost()
    if (kind === 'data item' && !missing.some(name => name.endsWith(` ${title}`))) continue
    await account.keptFiles.restore(id)
    if ((await lost()).length < missing.length) continue
    const undo = (await account.keptFiles.list()).find(
      file => file.path === path && file.reason === 'replaced'
    )
    if (undo !== undefined) await account.keptFiles.restore(undo.id)
  }
}

type Outcome = 'untouched' | 'brought back'

/** Lets one kind of server answer for some syncs, then an honest one. @returns how much had to be brought back by hand */
const attack = async (t: ExecutionContext, kind: Kind): Promise<Outcome> => {
  const user = makeKnownUser(t)
  const plugins = [makeToy({ tokens: { a: toyToken('A') } }).plugin]
  const { account, errors } = await user.logIn({ plugins })
  const old = await fill(user, account)
  const key = keyOf(user.repo)
  const before = await contentOf(account)
  const { db } = user.world.server
  const hashes = (db.repo(key)?.hashes ?? []).map(([hash]) => hash)
  const present = boxesOf(user, key)
  const foreign = Object.fromEntries(
    Object.keys(present).map(path => [path, sealText(io, new Uint8Array(32), 'of another repo')])
  )
  let count = 0
  const stop = user.world.server.use(async (request, next) => {
    if (!request.path.includes(`/store/${key}`)) return next()
    const honest = await next()
    const uploaded = request.method === 'POST' ? (JSON.parse(request.body) as { changes: Boxes }).changes : {}
    const scene = { method: request.method, count, honest, present, old, foreign, hashes, uploaded }
    count += 1
    const answer = kind.answer(scene)
    if (answer === undefined) return honest
    const { status, text } = typeof answer === 'string' ? { status: 200, text: answer } : answer
    return { ...honest, status, body: text }
  })
  for (let i = 0; i < SYNCS; i += 1) {
    // An edit of every second sync meets the server's answer on its way.
    if (i % 2 === 1) await account.dataStore.setItem('shop', 'item-3', `third ${i}`).catch(passWalletError)
    before.set('shop item-3', await account.dataStore.getItem('shop', 'item-3').catch(() => `third ${i}`))
    await account.sync().catch((error: unknown) => t.true(isWalletError(error), String(error)))
  }
  stop()
  const lost = async (of: Account): Promise<string[]> => {
    const now = await contentOf(of)
    return [...before].filter(([name, text]) => now.get(name) !== text).map(([name]) => name)
  }
  const missing = await lost(account)
  let outcome: Outcome = 'untouched'
  if (missing.length > 0) {
    outcome = 'brought back'
    await bringBack(account, () => lost(account))
    t.deepEqual(await lost(account), [], `${kind.name}: lost for good`)
  }
  await account.sync()
  await account.sync()
  t.deepEqual(await lost(account), [], `${kind.name}: after an honest sync`)
  const other = await user.logIn({ plugins })
  await other.account.sync()
  t.deepEqual(await lost(other.account), [], `${kind.name}: on a new device`)
  t.true(errors.every(error => error instanceof Error))
  await other.account.logout()
  await account.logout()
  return outcome
}

test('no kind of hostile sync server removes data from a known device, or from its later upload to an honest server', async t => {
  t.timeout(600_000)
  const counts = new Map<Outcome, number>()
  for (const kind of KINDS) {
    const outcome = await attack(t, kind).catch((error: unknown) => {
      throw new Error(kind.name, { cause: error })
    })
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    t.log(`${outcome.padEnd(12)} ${kind.name}`)
  }
  t.log(`${KINDS.length} kinds, ${[...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`)
  t.true(KINDS.length >= 25)
})

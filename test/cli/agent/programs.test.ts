import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { CliError, type CliErrorCode } from '../../../cli/errors/cli-error.ts'
import { ProgramClients, readTokenFile } from '../../../cli/programs/clients.ts'
import { ProgramLog, Programs } from '../../../cli/programs/programs.ts'
import { MAX_WAITING, type NewProposal, Proposals } from '../../../cli/programs/proposals.ts'
import type { Transaction } from '../../../kernel/index.ts'
import { homeFor } from '../../helpers/command-line.ts'

const day = 86_400_000
const later = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString()

const refusesWith = (t: ExecutionContext, code: CliErrorCode, call: () => unknown): void => {
  t.is(t.throws(call, { instanceOf: CliError })?.code, code)
}

const someProposal = (clientId = 'c1'): NewProposal => ({
  client: { id: clientId, name: 'helper' },
  device: 'default',
  loginId: 'alice',
  walletId: 'w1',
  spend: { tokenId: null, spendTargets: [] },
  draft: {} as Transaction,
  review: {},
  lifeMs: 600_000
})

test('a token opens its client until it is revoked, and only its hash is kept in a private file', async t => {
  const folder = homeFor(t)
  const clients = new ProgramClients(folder)
  const { client, token } = await clients.add({
    name: 'helper',
    scopes: ['propose'],
    loginId: 'alice',
    ends: later(day)
  })
  t.regex(token, /^hfc_[\w-]{43}$/)
  t.like(clients.find(token), { name: 'helper', id: client.id, scopes: ['propose'] })
  const path = join(folder, 'clients/clients.json')
  t.false(readFileSync(path, 'utf8').includes(token))
  if (process.platform !== 'win32') t.is(statSync(path).mode & 0o777, 0o600)
  t.is(clients.list()[0]?.lastUsed, undefined)
  await clients.noteUse(client)
  t.not(clients.list()[0]?.lastUsed, undefined)
  await clients.revoke('helper')
  refusesWith(t, 'CLIENT_REFUSED', () => clients.find(token))
  refusesWith(t, 'CLIENT_REFUSED', () => clients.check(client))
})

test('an unknown token, one of another client of the same name, and one whose time is over are refused', async t => {
  const clients = new ProgramClients(homeFor(t))
  refusesWith(t, 'CLIENT_REFUSED', () => clients.find(`hfc_${'A'.repeat(43)}`))
  const first = await clients.add({ name: 'helper', scopes: [], loginId: 'alice', ends: later(day) })
  await clients.revoke('helper')
  await clients.add({ name: 'helper', scopes: ['spend'], loginId: 'alice', ends: later(day) })
  refusesWith(t, 'CLIENT_REFUSED', () => clients.find(first.token))
  refusesWith(t, 'CLIENT_REFUSED', () => clients.check(first.client))
  const over = await clients.add({ name: 'over', scopes: [], loginId: 'alice', ends: later(-1) })
  refusesWith(t, 'CLIENT_ENDED', () => clients.find(over.token))
  refusesWith(t, 'CLIENT_ENDED', () => clients.check(over.client))
})

test('clients have names of their own without signs, and two that are added at once are both kept', async t => {
  const clients = new ProgramClients(homeFor(t))
  const add = (name: string) => clients.add({ name, scopes: [], loginId: 'alice', ends: later(day) })
  for (const name of ['', 'A', '1st', 'a b', 'a\u202eb', 'x'.repeat(33), '../x'])
    t.is((await t.throwsAsync(add(name), { instanceOf: CliError }))?.code, 'USAGE', name)
  await Promise.all(['one', 'two', 'three'].map(add))
  t.deepEqual(
    clients
      .list()
      .map(({ name }) => name)
      .sort(),
    ['one', 'three', 'two']
  )
  t.is((await t.throwsAsync(add('two'), { instanceOf: CliError }))?.code, 'USAGE')
})

test('a token file that others can read, or that has no token, is refused', async t => {
  const path = join(homeFor(t), 'token')
  writeFileSync(path, `hfc_${'A'.repeat(43)}\n`, { mode: 0o644 })
  if (process.platform !== 'win32')
    t.is((await t.throwsAsync(readTokenFile(path), { instanceOf: CliError }))?.code, 'SECRET_SOURCE')
  const plain = join(homeFor(t), 'plain')
  writeFileSync(plain, 'correct horse battery staple\n', { mode: 0o600 })
  const error = await t.throwsAsync(readTokenFile(plain), { instanceOf: CliError })
  t.is(error?.code, 'CLIENT_REFUSED')
  t.false(error?.message.includes('horse'))
})

test('a proposal that nobody answers ends by itself, by its timer and after a suspend', async t => {
  const folder = homeFor(t)
  let now = Date.now()
  const proposals = new Proposals(folder, () => now)
  const slept = proposals.add(someProposal())
  now += 599_999
  t.is(proposals.find(slept.id).state, 'waiting')
  now += 1
  t.like(proposals.find(slept.id), { state: 'refused', reason: 'EXPIRED' })
  refusesWith(t, 'PROPOSAL_ENDED', () => proposals.begin(slept.id))
  const timed = new Proposals(folder)
  const short = timed.add({ ...someProposal(), lifeMs: 5 })
  const ended = await timed.whenNot('waiting', short, new AbortController().signal)
  t.like(ended, { state: 'refused', reason: 'EXPIRED' })
})

test('a proposal ends in time although its timer has run a moment early', async t => {
  let now = Date.now()
  const proposals = new Proposals(homeFor(t), () => now)
  const { id } = proposals.add({ ...someProposal(), lifeMs: 20 })
  const ended = new Promise<string | undefined>(resolve =>
    proposals.onChange(({ reason }) => resolve(reason))
  )
  await sleep(60)
  now += 20
  // Without a look at it, which would end it, too.
  t.is(await Promise.race([ended, sleep(20_000, 'never')]), 'EXPIRED')
  t.is(proposals.find(id).state, 'refused')
})

test('a proposal is answered once: what comes second is refused, and its payment no longer ends by time', t => {
  let now = Date.now()
  const proposals = new Proposals(homeFor(t), () => now)
  const paid = proposals.add(someProposal())
  proposals.begin(paid.id)
  for (const call of [() => proposals.begin(paid.id), () => proposals.refuse(paid.id, 'DECLINED')])
    refusesWith(t, 'PROPOSAL_ENDED', call)
  now += 10 * 600_000
  t.is(proposals.find(paid.id).state, 'sending')
  t.like(proposals.finish(paid.id, { state: 'sent', txid: 'ab' }), { state: 'sent', txid: 'ab' })
  const declined = proposals.add(someProposal())
  proposals.refuse(declined.id, 'DECLINED')
  refusesWith(t, 'PROPOSAL_ENDED', () => proposals.begin(declined.id))
  proposals.close()
})

test('only so many proposals of a client wait at once, and an answer makes room', t => {
  const proposals = new Proposals(homeFor(t))
  const added = Array.from({ length: MAX_WAITING }, () => proposals.add(someProposal()))
  refusesWith(t, 'PROPOSALS_FULL', () => proposals.add(someProposal()))
  t.is(proposals.add(someProposal('c2')).state, 'waiting')
  proposals.refuse(added[0]?.id ?? '', 'DECLINED')
  t.is(proposals.add(someProposal()).state, 'waiting')
  proposals.close()
})

test('the number of a proposal is never used again, also by the next agent', t => {
  const folder = homeFor(t)
  const first = new Proposals(folder)
  const before = [first.add(someProposal()).id, first.add(someProposal()).id]
  first.close()
  const second = new Proposals(folder)
  const after = second.add(someProposal()).id
  second.close()
  t.false(before.includes(after))
  refusesWith(t, 'NOT_FOUND', () => second.find(before[0] ?? ''))
})

test('a program sees only its own proposals, and those of a revoked one are refused at once', t => {
  const programs = new Programs(homeFor(t))
  const { proposals } = programs
  const own = proposals.add(someProposal('c1'))
  const other = proposals.add(someProposal('c2'))
  refusesWith(t, 'NOT_FOUND', () => proposals.find(other.id, 'c1'))
  const client = { id: 'c1', name: 'helper', scopes: [], loginId: 'a', created: '', ends: '' }
  const { signal, leave } = programs.connect(client)
  t.is(programs.connectionsOf(client), 1)
  t.is(programs.dismiss(client), 1)
  t.true(signal.aborted)
  t.like(proposals.find(own.id), { state: 'refused', reason: 'CLIENT_REFUSED' })
  t.is(proposals.find(other.id).state, 'waiting')
  leave()
  t.is(programs.connectionsOf(client), 0)
  proposals.close()
})

test('the record of programs keeps the last lines of a client, and skips one that a crash has cut off', t => {
  const folder = homeFor(t)
  const log = new ProgramLog(folder)
  log.add({ client: 'one', event: 'connect', decision: 'ok' })
  writeFileSync(join(folder, 'clients/programs.log'), '{"time":"2026', { flag: 'a' })
  writeFileSync(join(folder, 'clients/programs.log'), '\n', { flag: 'a' })
  log.add({ client: 'two', event: 'call', tool: 'wallet_list', decision: 'ok' })
  t.deepEqual(
    log.read(10).map(({ client, tool }) => [client, tool]),
    [
      ['one', undefined],
      ['two', 'wallet_list']
    ]
  )
  t.is(log.read(10, 'two').length, 1)
  t.is(log.read(1)[0]?.client, 'two')
  if (process.platform !== 'win32') t.is(statSync(join(folder, 'clients/programs.log')).mode & 0o777, 0o600)
})

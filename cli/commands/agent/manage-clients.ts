import { compact, type JsonObject } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount, parseDate, parseSpan } from '../../grammar/options.ts'
import { openOutputFile } from '../../output/output-file.ts'
import { localTime } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import {
  type ProgramClient,
  ProgramClients,
  type ProgramScope,
  programScopes
} from '../../programs/clients.ts'
import { ProgramLog } from '../../programs/programs.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'

const DEFAULT_SPAN = '30d'
const MAX_SECONDS = 366 * 86_400

/** Adds a client, and writes its token to a new private file, or prints it once. */
export const clientsAdd: CommandRun = async (session, name = '') => {
  const scopes = scopesOf(session)
  const ends = endOf(session.text('until') ?? DEFAULT_SPAN)
  const path = session.text('output')
  const account = await session.account()
  const texts = session.texts('wallet')
  const walletIds = texts.length === 0 ? undefined : (await findWallets(session, texts)).map(({ id }) => id)
  const file = path === undefined ? undefined : await openOutputFile(path, false)
  try {
    const { client, token } = await new ProgramClients(session.paths.session).add({
      ...{ name, scopes, loginId: account.id, ends: ends.toISOString() },
      ...compact({ username: account.username, walletIds })
    })
    await file?.write(`${token}\n`)
    await file?.commit()
    return addedResult(client, path === undefined ? { token } : { file: path })
  } finally {
    await file?.discard()
  }
}

const addedResult = (
  client: ProgramClient,
  kept: { readonly token: string } | { readonly file: string }
): CommandResult => ({
  data: { client: clientJson(client), ...kept },
  view: {
    kind: 'record',
    fields: [
      ...clientFields(client),
      'token' in kept ? ['token', { text: kept.token, tone: 'strong' }] : ['token in', kept.file]
    ]
  },
  advice: [
    ...('token' in kept
      ? ['The token is shown only now: keep it in a file that only you can read (mode 600)']
      : []),
    `Programs start: holdfast mcp --client-file ${'file' in kept ? kept.file : '<file>'}`,
    ...(client.scopes.includes('spend')
      ? [
          `What it may spend is a rule: holdfast policy add <id> rolling --max "10 EUR" --client ${client.name}`
        ]
      : [])
  ]
})

/** `read` is the right of every client. */
const scopesOf = (session: Session): readonly ProgramScope[] => {
  const given = session.texts('scope')
  if (given.length === 0) throw new CliError('USAGE', 'Name what the program may do: --scope read')
  return programScopes.filter(scope => given.includes(scope))
}

const endOf = (text: string): Date => {
  const seconds = /^\d+[a-z]$/.test(text)
    ? parseSpan(text)
    : (parseDate(text, 'end').getTime() - Date.now()) / 1000
  if (seconds > 0 && seconds <= MAX_SECONDS) return new Date(Date.now() + seconds * 1000)
  throw new CliError('USAGE', 'A client ends after at most 366 days, and not in the past')
}

/** Lists the clients of this device. */
export const clientsList: CommandRun = async session => {
  const clients = new ProgramClients(session.paths.session).list()
  const programs = session.agent?.programs
  const rows = clients.map(client => ({
    client,
    connections: programs?.connectionsOf(client) ?? 0,
    waiting: programs?.proposals.waitingOf(client.id).length ?? 0
  }))
  return {
    data: {
      clients: rows.map(({ client, connections, waiting }) => ({
        ...clientJson(client),
        connections,
        waitingProposals: waiting
      }))
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'CLIENT' },
        { title: 'MAY' },
        { title: 'ACCOUNT', canShrink: true },
        { title: 'ENDS' },
        { title: 'LAST USED' },
        { title: 'CONNECTED', align: 'right' },
        { title: 'PROPOSALS', align: 'right' }
      ],
      rows: rows.map(({ client, connections, waiting }) => [
        client.name,
        scopeText(client),
        client.username ?? client.loginId,
        hasEnded(client) ? { text: 'over', tone: 'warn' } : localTime(new Date(client.ends)),
        client.lastUsed === undefined ? 'never' : localTime(new Date(client.lastUsed)),
        String(connections),
        waiting === 0 ? '0' : { text: String(waiting), tone: 'strong' }
      ]),
      empty: 'No program may use this profile; add one with: holdfast agent clients add <name>'
    }
  }
}

/** Revokes a client: its connections end at once, and what it proposed is refused. */
export const clientsRevoke: CommandRun = async (session, name = '') => {
  const client = await new ProgramClients(session.paths.session).revoke(name)
  const refused = session.agent?.programs.dismiss(client) ?? 0
  return {
    data: { revoked: clientJson(client), refusedProposals: refused },
    view: {
      kind: 'text',
      lines: [`${client.name} is revoked${refused === 0 ? '' : `; ${refused} waiting proposals are refused`}`]
    }
  }
}

const DEFAULT_LINES = '50'

/** Shows what programs did on this device. */
export const clientsLog: CommandRun = async (session, name) => {
  const count = parseCount(session.text('limit') ?? DEFAULT_LINES, 'limit', [1, 10_000])
  const events = new ProgramLog(session.paths.session).read(count, name)
  return {
    data: { events: events.map(event => ({ ...event })) },
    view: {
      kind: 'table',
      columns: [
        { title: 'TIME' },
        { title: 'CLIENT' },
        { title: 'EVENT' },
        { title: 'TOOL' },
        { title: 'PROPOSAL', align: 'right' },
        { title: 'DECISION' }
      ],
      rows: events.map(({ time, client, event, tool = '', proposal = '', decision }) => [
        localTime(new Date(time)),
        client,
        event,
        tool,
        proposal,
        decision
      ]),
      empty: 'No program has used this profile'
    }
  }
}

const hasEnded = ({ ends }: ProgramClient): boolean => Date.parse(ends) <= Date.now()

const scopeText = ({ scopes }: ProgramClient): string => ['read', ...scopes].join(', ')

const clientJson = (client: ProgramClient): JsonObject => {
  const { name, scopes, loginId, username, walletIds, created, ends, lastUsed } = client
  return {
    name,
    scopes: ['read', ...scopes],
    loginId,
    username: username ?? null,
    walletIds: walletIds === undefined ? null : [...walletIds],
    created,
    ends,
    hasEnded: hasEnded(client),
    lastUsed: lastUsed ?? null
  }
}

const clientFields = (client: ProgramClient): readonly (readonly [string, string])[] => [
  ['client', client.name],
  ['may', scopeText(client)],
  ['account', client.username ?? client.loginId],
  ['wallets', client.walletIds === undefined ? 'all' : client.walletIds.join(', ')],
  ['ends', localTime(new Date(client.ends))]
]

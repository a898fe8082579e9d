import {
  type Account,
  compact,
  type DamagedEntry,
  isWalletError,
  type JsonObject,
  parseAmount,
  type SpendRule
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseSpan } from '../../grammar/options.ts'
import type { CommandResult } from '../../output/view.ts'
import { promptText } from '../../secrets/prompt.ts'
import type { CommandRun } from '../../session/command.ts'
import { openWallet } from '../../session/find-wallets.ts'
import { nameOf } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { safeText } from '../../terminal/safe-text.ts'
import { canPrompt } from '../../terminal/terminal.ts'

/** Lists the rules, the changes that wait, and the payees that rules have seen. */
export const policyList: CommandRun = async session => {
  const { policies } = await session.account()
  const { rules, pending, fault } = await policies.list()
  const seen = policies.seen()
  return {
    data: {
      rules: rules as unknown as JsonObject[],
      pending: pending.map(({ effectiveAt, rule, ...change }) => ({
        ...change,
        rule: rule as unknown as JsonObject | null,
        effectiveAt: new Date(effectiveAt).toISOString()
      })),
      payees: seen.map(({ at, ...payee }) => ({ ...payee, firstAt: new Date(at).toISOString() })),
      fault: fault ?? null
    },
    view: {
      kind: 'table',
      columns: [{ title: 'ID' }, { title: 'KIND' }, { title: 'SAYS', canShrink: true }],
      rows: [
        ...rules.map(({ id, kind, ...fields }) => [id, kind, fieldsText(fields)]),
        ...pending.map(({ id, ruleId, rule, effectiveAt }) => [
          id,
          'waits',
          `${rule === null ? 'removes' : 'changes'} ${ruleId} at ${new Date(effectiveAt).toISOString()}`
        ]),
        ...seen.map(({ ruleId, what, at }) => [
          ruleId,
          'payee',
          safeText(`${what}, first at ${new Date(at).toISOString()}`)
        ])
      ],
      empty: 'The account has no rules about payments: a person pays what they approve.'
    },
    ...compact({ warnings: fault === undefined ? undefined : [`nothing is paid: ${fault}`] })
  }
}

/** Adds a rule, or changes the rule of its id. */
export const policyAdd: CommandRun = async (session, id = '', kind = '') => {
  const rule = await readRule(session, id, kind)
  return change(session, id, (account, password) => account.policies.add(rule, { password }), rule)
}

/** Removes a rule. */
export const policyRemove: CommandRun = async (session, id = '') =>
  change(session, id, (account, password) => account.policies.remove(id, { password }), null)

/** Begins anew without rules, if those that there are cannot be read. */
export const policyReset: CommandRun = async session => {
  const account = await session.account()
  const given = await session.secrets.given('password')
  const message = `The account pays without rules then. Password of ${nameOf(account)}:`
  const password = given ?? (await session.secrets.prompt('password', { message }))
  await account.policies.reset({ password })
  return {
    data: { reset: true },
    view: { kind: 'text', lines: ['The account has no rules any more'] },
    advice: ['Add them anew with: holdfast policy add']
  }
}

/**
 * Shows the payments that cannot be read, and sets them aside after a typed yes and the password. `--yes` is not enough: it may mean
 * that as much as each limit was paid.
 */
export const policySetAside: CommandRun = async session => {
  const { globals, terminal, statusLine, secrets } = session
  const account = await session.account()
  const damaged = await account.policies.damaged()
  const names = await walletNames(session, damaged)
  const data = damaged.map(({ noticedAt, ...entry }) => ({
    ...entry,
    noticedAt: new Date(noticedAt).toISOString()
  }))
  const rows = data.map(({ walletId, entry, noticedAt }) => [
    safeText(names.get(walletId) ?? walletId),
    safeText(entry),
    noticedAt
  ])
  const columns = [{ title: 'WALLET' }, { title: 'ENTRY', canShrink: true }, { title: 'NOTICED' }]
  const empty = 'Every payment can be read'
  if (globals.dryRun || damaged.length === 0)
    return { data: { damaged: data, setAside: false }, view: { kind: 'table', columns, rows, empty } }
  if (globals.yes || !globals.input || !canPrompt(terminal))
    throw new CliError(
      'CONFIRMATION_REQUIRED',
      'A payment that cannot be read is set aside by a person at a terminal',
      {
        hint: 'Leave out --yes. With --dry-run the command only lists them.'
      }
    )
  for (const [wallet, entry, noticed] of rows)
    statusLine.info(`${wallet}: the payment ${entry} cannot be read, as was noticed at ${noticed}`)
  statusLine.info(
    'Each of them may have left, and nobody knows how much it paid: as much as your limits allowed, at most. Look at the wallet first (tx list), and pay nothing again that may be among them. Limits over a window count as used up until the window after that time has passed.'
  )
  const typed = await promptText(terminal, 'Type "yes" to set them aside:')
  if (typed.trim() !== 'yes') throw new CliError('DECLINED', 'Nothing was set aside')
  const message = `Password of ${nameOf(account)}:`
  const password = (await secrets.given('password')) ?? (await secrets.prompt('password', { message }))
  await account.policies.setAside(damaged, { password })
  return {
    data: { damaged: data, setAside: true },
    view: { kind: 'text', lines: ['They are set aside; the account can pay'] },
    advice: ['See what the limits leave with: holdfast policy explain']
  }
}

const walletNames = async (
  session: Session,
  damaged: readonly DamagedEntry[]
): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>()
  for (const { walletId } of damaged) {
    const { name } = await openWallet(session, walletId)
    if (name !== null) names.set(walletId, name)
  }
  return names
}

/** Cancels a change that waits; with a payee, the rule of the id forgets that it has seen it. */
export const policyCancel: CommandRun = async (session, id = '', payee) => {
  const { policies } = await session.account()
  if (payee === undefined) await policies.cancel(id)
  else {
    const found = policies.seen().find(({ ruleId, what }) => ruleId === id && what.endsWith(`:${payee}`))
    if (found === undefined) throw new CliError('NOT_FOUND', 'The rule has not seen this payee')
    await policies.forgetSeen(found)
  }
  return { data: { cancelled: true }, view: { kind: 'text', lines: ['Cancelled'] } }
}

/** Makes a change without the password first; one that may loosen the rules asks for it. */
const change = async (
  session: Session,
  id: string,
  make: (account: Account, password?: string) => Promise<number | undefined>,
  rule: SpendRule | null
): Promise<CommandResult> => {
  const account = await session.account()
  const given = await session.secrets.given('password')
  let effectiveAt: number | undefined
  try {
    effectiveAt = await make(account, given)
  } catch (error) {
    if (!isWalletError(error, 'POLICY_PASSWORD') || given !== undefined) throw error
    const message = `This may loosen the rules. Password of ${nameOf(account)}:`
    effectiveAt = await make(account, await session.secrets.prompt('password', { message }))
  }
  const from = effectiveAt === undefined ? null : new Date(effectiveAt).toISOString()
  const done = `${rule === null ? 'Removed' : 'Saved'} the rule "${id}"`
  return {
    data: { id, rule: rule as unknown as JsonObject | null, effectiveAt: from },
    view: { kind: 'text', lines: [from === null ? done : `The change of "${id}" waits until ${from}`] },
    ...compact({
      advice:
        from === null ? undefined : ['Cancel it with: holdfast policy list, then holdfast policy cancel <id>']
    })
  }
}

/** Reads a rule from its flags; the kernel checks what it means. @throws CliError USAGE, AMOUNT_INVALID */
const readRule = async (session: Session, id: string, kind: string): Promise<SpendRule> => {
  const hoursOf = (flag: string, fallback?: string): number | undefined => {
    const text = session.text(flag) ?? fallback
    return text === undefined ? undefined : parseSpan(text) / 3600
  }
  const to = session.texts('to')
  const uses = session.texts('use')
  return {
    id,
    kind,
    ...(await limitOf(session)),
    ...compact({
      client: session.text('client'),
      windowHours: kind === 'rolling' ? hoursOf('per', '24h') : undefined,
      delayHours: kind === 'new-payee-delay' ? hoursOf('wait') : undefined,
      hours: kind === 'loosening-delay' ? hoursOf('wait') : undefined,
      payees: kind === 'allow-list' ? to : undefined,
      known: kind === 'new-payee-delay' && to.length > 0 ? to : undefined,
      from: session.text('from'),
      to: session.text('until'),
      zone: session.text('zone'),
      uses: uses.length > 0 ? uses : undefined,
      devices: kind === 'second-device' ? devicesOf(session) : undefined
    })
  } as SpendRule
}

/** The devices of `--approver <name>=<key>`. @throws CliError USAGE */
const devicesOf = (session: Session): SpendRule['devices'] =>
  session.texts('approver').map(text => {
    const [, name = '', key = ''] = /^([^=]+)=([0-9a-f]{64})$/.exec(text) ?? []
    if (key !== '') return { name, key }
    throw new CliError('USAGE', 'An approver is a name, = and the key that "policy device" shows there')
  })

const LIMIT = /^([0-9.]+) ?([A-Za-z][A-Za-z0-9.]*)$/

/** A maximum in a currency of the program, by its code, or in a fiat currency. */
const limitOf = async (session: Session): Promise<Partial<SpendRule>> => {
  const text = session.text('max')
  const asset = session.text('asset')
  if (text === undefined) return compact({ asset })
  const [, figure = '', code = ''] = LIMIT.exec(text) ?? []
  if (code === '') throw new CliError('USAGE', 'A maximum has its unit, such as "0.01 BTC" or "10 EUR"')
  const currencies = await session.currencies()
  const named = currencies.filter(
    ({ currencyCode, pluginId }) => currencyCode === code && (asset === undefined || pluginId === asset)
  )
  const [info, other] = named
  if (info === undefined) return { ...compact({ asset }), maxFiat: figure, fiat: `iso:${code.toUpperCase()}` }
  if (other !== undefined)
    throw new CliError('USAGE', `Several currencies are called ${code}: say --asset ${info.pluginId}, too`)
  return { asset: info.pluginId, max: parseAmount(text, info) }
}

const fieldsText = (fields: Readonly<Record<string, unknown>>): string =>
  safeText(
    Object.entries(fields)
      .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', ')
  )

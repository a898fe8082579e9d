import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandSpecs } from '../../cli/commands/commands.ts'
import { catalogue } from '../../kernel/base/errors.ts'
import { runInProcess } from '../../test/helpers/in-process.ts'

/** Every command with its arguments, flags, secrets and aliases, without the words that explain them. */
export const commandGrammar = (): string =>
  `${commandSpecs
    .map(({ name, arguments: args = '', flags = [], secrets = [], aliases = [] }) =>
      [
        `${name} ${args}`.trim(),
        ...flags.map(({ flags: text, choices = [] }) => `  ${text} ${choices.join('|')}`.trimEnd()).sort(),
        ...(secrets.length === 0 ? [] : [`  secrets: ${[...secrets].sort().join(' ')}`]),
        ...(aliases.length === 0 ? [] : [`  also: ${[...aliases].sort().join(', ')}`])
      ].join('\n')
    )
    .sort()
    .join('\n')}\n`

/** Every error code with its name, exit code and whether trying again may help. */
export const errorCodes = (): string =>
  `${Object.entries(catalogue)
    .map(
      ([code, entry]) => `${code} ${entry.name} ${entry.exitCode}${'retryable' in entry ? ' retryable' : ''}`
    )
    .sort()
    .join('\n')}\n`

/**
 * Runs every command in a fake world and records what it says with `--json`: names and words as they are, and what
 * differs in each run, or is meant for people, as a mark.
 *
 * @param kept - where a copy of the profile goes, as it is before the logout, for {@link folderContents}
 * @returns a block for each command line
 * @throws Error if a command of the grammar is neither run nor left out with a reason
 */
export const commandOutputs = async (kept: string): Promise<string> => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-freeze-'))
  try {
    const blocks: string[] = []
    const done = new Set(Object.keys(LEFT_OUT))
    const known: Record<string, string> = { files: home }
    writeFileSync(join(home, 'note.txt'), 'hello\n')
    for (const line of LINES.trim().split('\n')) {
      const words = line
        .split(' ')
        .map(word => word.replace(/\$(\w+)/g, (_, name) => known[name] ?? `$${name}`))
      const { spec, wanted } = specOf(words)
      done.add(spec.name)
      if (wanted === 'logout') cpSync(home, kept, { recursive: true })
      const { block, values } = await runLine(home, line, words)
      remember(wanted, values[0], known)
      blocks.push(block)
    }
    const missing = commandSpecs.map(({ name }) => name).filter(name => !done.has(name) && !isNewer(name))
    if (missing.length > 0) throw new Error(`Not run: ${missing.join(', ')}`)
    return `${blocks.join('\n\n')}\n\nfiles\n${fileKindsOf(home)}\n`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** What the present code reads in a copy of a profile that {@link commandOutputs} left, perhaps that of another commit. */
export const folderContents = async (kept: string): Promise<string> => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-freeze-'))
  try {
    cpSync(kept, home, { recursive: true })
    const blocks: string[] = []
    for (const line of READING) blocks.push((await runLine(home, line, line.split(' '))).block)
    return `${blocks.join('\n\n')}\n`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const READING = [
  ...['whoami', 'account list', 'wallets list', 'balance', 'tx list Savings', 'tx search Rent Savings'],
  ...['swap history', 'data stores', 'sync repos', 'sync']
]

const runLine = async (
  home: string,
  line: string,
  words: readonly string[]
): Promise<{ readonly block: string; readonly values: readonly unknown[] }> => {
  const { spec } = specOf(words)
  const isSecret = (spec.secrets ?? []).length > 0
  const { code, stdout } = await runInProcess(
    [...words, '--json', ...(isSecret ? ['--secrets-stdin'] : [])],
    { home, input: isSecret ? SECRETS : '' }
  )
  const values = stdout.trim() === '' ? [] : valuesOf(stdout)
  const shown = values.map(value => JSON.stringify(masked(value), undefined, 1)).join('\n')
  return { block: `$ ${line}\nexit ${code}\n${shown}`, values }
}

const specOf = (words: readonly string[]) => {
  const text = words.join(' ')
  const [spec] = commandSpecs
    .filter(({ name }) => text === name || text.startsWith(`${name} `))
    .sort((a, b) => b.name.length - a.name.length)
  if (spec === undefined) throw new Error(`No such command: ${text}`)
  return { spec, wanted: spec.name }
}

const valuesOf = (text: string): readonly unknown[] => {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .trim()
      .split('\n')
      .map(line => {
        try {
          return JSON.parse(line)
        } catch {
          return '<text>'
        }
      })
  }
}

/** What later lines name: the ids that this run made. */
const remember = (command: string, value: unknown, known: Record<string, string>): void => {
  const data = (value as { data?: Record<string, unknown> } | undefined)?.data
  if (data === undefined || data === null) return
  const { txid, address, quotes, loginId } = data as Record<string, string> & {
    quotes?: readonly { id: string }[]
  }
  if (txid !== undefined) {
    known[command === 'send' ? 'txid' : 'otherTxid'] = txid
    known.short = (known.txid ?? '').slice(0, 8)
  }
  if (command === 'address show' && address !== undefined) known.address = address
  if (loginId !== undefined) known.loginId = loginId
  const quoteId = quotes?.[0]?.id
  if (quoteId !== undefined) known.quote = quoteId
}

const PROSE: ReadonlySet<string> = new Set([
  ...['message', 'hint', 'why', 'summary', 'reason', 'description', 'displayName', 'command', 'text'],
  ...['title', 'note', 'help', 'warning', 'warnings', 'sentence', 'failure']
])

const masked = (value: unknown, name = ''): unknown => {
  if (typeof value === 'string') return PROSE.has(name) ? '<text>' : maskedText(value)
  if (typeof value === 'number') return '#'
  if (Array.isArray(value)) {
    const items = value.map(item => JSON.stringify(masked(item, name)))
    // Many alike are one, in an order of their own.
    return [...new Set(items)].sort().map(item => JSON.parse(item))
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(
    ([key, item]) => [/^[a-z][A-Za-z]*$/.test(key) ? key : '<key>', masked(item, key)] as const
  )
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const maskedText = (text: string): string =>
  text
    .replace(/\/[^\s"]*holdfast-freeze-[^\s"]*/g, '<path>')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?/g, '<date>')
    .replace(/\b(bcrt1|rltc1|tltc1)[0-9a-z]+/g, '<address>')
    .replace(/[A-Za-z0-9+/_-]{20,}={0,2}/g, found => (/^(?:[A-Z_]+|[a-z-]+)$/.test(found) ? found : '<id>'))
    .replace(/\b[0-9a-f]{8,}\b|\b[A-Z2-7]{16,}\b/g, '<id>')
    .replace(/\d+(\.\d+)?/g, '#')

/** The kinds of files below a profile, with ids and numbers as marks. */
const fileKindsOf = (home: string): string => {
  const paths = readdirSync(home, { recursive: true, encoding: 'utf8' }).map(path =>
    path
      .split('/')
      .map(part => (/[A-Za-z0-9]{20,}/.test(part) ? part.replace(/[A-Za-z0-9_=-]{20,}/, '<id>') : part))
      .join('/')
      .replace(/\d+/g, '#')
  )
  return [...new Set(paths)].sort().join('\n')
}

const SECRETS = JSON.stringify({
  password: 'correct horse battery staple',
  pin: '4815',
  keys: '{"bitcoinKey":"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"}',
  // The same again: later lines log in with it.
  'new-password': 'correct horse battery staple',
  'new-pin': '4815',
  answers: ['blue', 'Rex']
})

/** The families of commands that are newer than the trees that are compared; their grammar is compared all the same. */
const NEWER = ['agent', 'completion', 'mcp', 'policy', 'proposals']

const isNewer = (name: string): boolean => NEWER.includes(name.split(' ')[0] ?? '')

/** Commands that run until they are stopped, ask on a terminal, or need another device; their grammar is frozen. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  demo: 'its traffic is recorded apart',
  devtools: 'serves until it is stopped',
  'fake start': 'serves until it is stopped',
  'sync watch': 'watches until it is stopped',
  'tx watch': 'watches until it is stopped',
  'swap run': 'asks on a terminal',
  'account forget': 'asks for the name of a device that knows it'
}

/** One world from the first line to the last; `$name` is what an earlier line gave. Some are refused, which is frozen too. */
const LINES = `
help
account available frozen
account create frozen
account list
account show
whoami
messages
account password check
account password verify
account pin verify
account pin show
account pin disable
account pin enable
account key
account key --reveal
wallets types
wallets create bitcoin --name Savings
wallets create litecoin --name Lite
wallets list
wallets show Savings
wallets keys Savings
wallets keys Savings --reveal
wallets dump Savings
wallets staking Savings
wallets rename Lite Light
wallets fiat Light iso:EUR
wallets sort Light 1
wallets archive Light
wallets unarchive Light
wallets hide Light
wallets unhide Light
wallets delete Light --yes
wallets undelete Light
wallets pause Light
wallets resume Light
wallets resync Light --yes
wallets wait Savings
wallets activate Savings
wallets split Savings --list
wallets import bitcoin --name Second
address Savings
address show Savings
address new Savings
address lock Savings $address
address save Savings $address
amount Savings 0.01
uri parse Savings bitcoin:$address?amount=0.01
uri encode Savings $address --amount 0.01
fake chain fund Savings 1
fake chain mine 2
fake chain fund Savings 0.5 --confirm
fake chain fund Light 3 --confirm
balance
tokens list Savings
tokens enable Savings none
tokens disable Savings none
tokens always bitcoin
tokens add bitcoin --code X --decimals 2
tokens edit bitcoin none --name X
tokens remove bitcoin none
send Savings --to bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080 --amount 0.01 --dry-run
send Savings --to bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080 --amount 0.01 --yes
send Savings --to nowhere --amount 0.01 --yes
send Savings --to bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080 --amount 100 --yes
tx open Savings
tx resend Savings $txid --yes
tx replace Savings $txid --yes
tx forget Savings $txid
tx forget Savings $txid --yes --confirm $short
fake chain mine
tx list Savings
tx search Rent Savings
tx show Savings $otherTxid
tx stream Savings
tx label Savings $otherTxid --name Rent
tx export Savings --format csv -o $files/all.csv
tx export Savings --format json -o $files/all.json
tx export Savings --format bip329 -o $files/labels.jsonl
tx import-labels $files/labels.jsonl
send Savings --to bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080 --amount 0.02 --sign-only --yes -o $files/signed.json
tx broadcast Savings $files/signed.json --yes
tx save Savings $files/signed.json --yes
tx broadcast Savings $files/none.json
swap providers
swap disable changenow
swap enable changenow
swap settings changenow
swap quote --from Savings --to Light --amount 0.01
swap approve $quote --yes --again
swap close $quote
swap history
rates get BTC iso:USD
rates route BTC iso:USD
rates pairs
rates providers
rates refresh
rates hints list
rates hints add BTC iso:EUR
rates hints clear
data set com.example greeting --file $files/note.txt
data stores
data list com.example
data get com.example greeting
data export com.example -o $files/data.json
data import $files/data.json --yes
data recover
data remove com.example greeting --yes
sync
sync status
sync repos
2fa status
2fa enable
2fa code
2fa key --reveal
2fa repair
2fa reset request
2fa reset cancel
2fa disable --yes --confirm frozen
voucher list
voucher approve none
voucher reject none
lobby show none
lobby approve none
lobby close none
account recovery choices
account recovery setup --question Colour? --question Dog? --reveal
account recovery questions frozen
account recovery key --reveal
account recovery remove --yes
account username set renamed
account password set
account pin remove --yes
account pin set
fake net latency 1ms-2ms
fake net latency 0ms
fake net fail 0%
fake net offline
fake net online
fake clock show
fake clock advance 1m
fake clock set 2030-01-01T00:00:00Z
fake user list
fake user dump renamed --reveal --yes --confirm renamed -o $files/user.json
fake user load $files/user.json
fake user dump nobody
fake requests
logout
login renamed
account list
account delete --yes --confirm renamed
account create second
account password remove --yes
`

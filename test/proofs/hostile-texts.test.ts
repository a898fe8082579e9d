import { type Schema, Validator } from '@cfworker/json-schema'
import test, { type ExecutionContext } from 'ava'
import { type EngineRequest, nativeAmount, type Plugin, WalletError } from '../../kernel/plugin-api.ts'
import { drawSeed, makeSeededRandom, runCount, type SeededRandom } from '../helpers/drawn-runs.ts'
import { hostileText, OUTSIDE } from '../helpers/hostile-texts.ts'
import {
  argumentsFor,
  factsOf,
  fundedWallet,
  type ListedTool,
  openProgramStage,
  PASSWORD,
  PIN,
  type Program,
  type ProgramStage,
  sdks,
  type ToolAnswer
} from '../helpers/programs.ts'
import { makeShop, offerOf } from '../helpers/swap-shop.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'

const TEXTS = runCount(500, 4)
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
/** What cannot be seen, or moves what can. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const LONGEST = 200

/** A toy currency and an exchange that say what they are told: in tokens, transactions, states, quotes and failures. */
interface HostileToy {
  readonly plugins: readonly Plugin[]
  readonly requests: readonly EngineRequest[]
  text: string
  signed: number
}

const makeHostileToy = (random: SeededRandom): HostileToy => {
  const tokens = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `token${at}`,
      {
        currencyCode: hostileText(random).slice(0, 60),
        displayName: hostileText(random),
        denominations: [{ name: hostileText(random).slice(0, 60), multiplier: '100' }]
      }
    ])
  )
  const state = { text: '', signed: 0 }
  const toy = makeToy({
    tokens,
    balance: '100000',
    tools: {
      // A plugin takes only addresses of its currency.
      async parseUri(uri) {
        if (/^\w{1,100}$/.test(uri)) return { publicAddress: uri }
        throw new WalletError('ADDRESS_INVALID', { rule: state.text.slice(0, 300) })
      }
    },
    engine: good => ({
      async signTx(...args) {
        state.signed += 1
        return good.signTx(...args)
      },
      async makeSpend() {
        throw new Error(state.text)
      }
    })
  })
  const shop = makeShop({
    displayName: hostileText(random).slice(0, 100),
    answer(context) {
      if (random.oneIn(3)) return Promise.reject(new Error(state.text))
      if (random.oneIn(2)) return context.offer(offerOf(context, { orderId: state.text } as never))
      const { fromNativeAmount, ...offer } = offerOf(context)
      return context.offer({ ...offer, fromNativeAmount: state.text, [state.text]: state.text } as never)
    }
  })
  return Object.assign(state, { plugins: [toy.plugin, shop], requests: toy.requests })
}

/** The texts in a reply, with the names that lead to each. */
const textsIn = (
  value: unknown,
  path: readonly string[] = []
): readonly (readonly [readonly string[], string])[] => {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [
    [[...path, '(name)'], name] as const,
    ...textsIn(each, [...path, name])
  ])
}

interface Watch {
  readonly canaries: readonly RegExp[]
  readonly validators: ReadonlyMap<string, Validator>
  /** The number of texts from outside that replies had. */
  seen: number
  /** The tools in whose replies they were. */
  readonly repeating: Set<string>
}

/** Checks all that a tool says: data by its schema, texts from outside in their own fields, and no secret. */
const checkReply = (t: ExecutionContext, watch: Watch, name: string, answer: ToolAnswer): void => {
  const { canaries, validators } = watch
  const whole = JSON.stringify(answer)
  for (const canary of canaries) if (canary.test(whole)) t.fail(`${name} returned a secret`)
  const text = answer.content.map(part => part.text ?? '').join('\n')
  if (answer.isError === true) {
    t.false(text.includes(OUTSIDE), `${name} repeats a text in its error: ${text}`)
    t.regex(text, /^[\x20-\x7e\n]{1,400}$/, name)
    return
  }
  const { valid, errors } = validators.get(name)?.validate(answer.structuredContent) ?? { valid: false }
  if (!valid) t.fail(`${name} gave ${whole.slice(0, 300)}: ${JSON.stringify(errors)}`)
  t.deepEqual(JSON.parse(text), answer.structuredContent, name)
  t.notRegex(text, INVISIBLE, name)
  for (const [path, found] of textsIn(answer.structuredContent)) {
    if (INVISIBLE.test(found)) t.fail(`${name} ${path.join('.')} has what cannot be seen`)
    if (!found.includes(OUTSIDE)) continue
    watch.seen += 1
    watch.repeating.add(name)
    t.true(
      path.some(part => part.startsWith('untrusted')),
      `${name} has a text of others in ${path.join('.')}`
    )
    t.true(found.length <= LONGEST, `${name} ${path.join('.')} is ${found.length} long`)
  }
}

/** The secrets of the account, as no reply may have them. */
const canariesOf = async ({ run }: ProgramStage): Promise<readonly RegExp[]> => {
  const input = JSON.stringify({ password: PASSWORD, pin: PIN })
  const reveal = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { json } = await run([...words, '--reveal', '--json', '--secrets-stdin'], { input })
    if (!json.ok) throw new Error(JSON.stringify(json.error))
    return textsIn(json.data).flatMap(([path, text]) =>
      path.includes('(name)') || path.includes('walletId') || path.includes('type') ? [] : text.split('\n')
    )
  }
  const revealed = [
    ...(await reveal('wallets', 'keys', 'Savings', '--private')),
    ...(await reveal('account', 'key'))
  ].filter(text => text.length >= 16)
  // A PIN stands in many a txid by chance.
  return [PASSWORD, PIN, ...revealed].map(secret => {
    const words = secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(`(?<![0-9A-Za-z])${words}(?![0-9A-Za-z])`)
  })
}

test('hostile texts in memos, labels, names, tokens, states, quotes, failures and arguments stay data: nothing is signed, no secret leaves, each reply fits', async t => {
  t.timeout(600_000)
  const random = makeSeededRandom(drawSeed(t))
  const toy = makeHostileToy(random)
  const stage = await openProgramStage(t, { plugins: toy.plugins })
  const { run } = stage
  const savings = await fundedWallet(stage, 'Savings')
  const made = await run(['wallets', 'create', 'toycoin', '--name', 'Toy', '--json'])
  const toyWallet: string = made.json.data.wallet.id
  await run(['tokens', 'enable', 'Toy', ...Array.from({ length: 20 }, (_, at) => `token${at}`)])
  const [{ txid = '' } = {}] = (await run(['tx', 'list', 'Savings', '--json'])).json.data.transactions
  const other = await run(['wallets', 'create', 'litecoin', '--json'])
  const known = { ...(await factsOf(stage, savings)), otherWalletId: other.json.data.wallet.id }
  const canaries = await canariesOf(stage)
  t.true(canaries.length >= 4, 'the secrets of the account are known')
  const token = await stage.addClient('helper', '--scope', 'propose')
  const programs: Program[] = []
  for (const sdk of sdks) programs.push(await stage.connect(token, { sdk }))
  const tools: readonly ListedTool[] = (await programs[0]?.tools()) ?? []
  const before = JSON.stringify(tools)
  const validators = new Map(
    tools.map(({ name, outputSchema }) => [name, new Validator(outputSchema as Schema, '2020-12')])
  )
  const watch: Watch = { canaries, validators, seen: 0, repeating: new Set() }

  /** Puts a text where somebody outside can put it. */
  const channels: readonly ((text: string, at: number) => Promise<unknown>)[] = [
    text => run(['wallets', 'rename', savings, text]),
    text => run(['tx', 'label', savings, txid, '--name', text, '--notes', text, '--category', text]),
    text =>
      run([
        'tokens',
        'add',
        'toycoin',
        '--code',
        text,
        '--name',
        text,
        '--decimals',
        '2',
        '--contract',
        text
      ]),
    async (text, at) => {
      for (const { callbacks } of toy.requests)
        callbacks.onTransactionsChanged([
          toyTransaction(`toy${at}`, {
            nativeAmount: nativeAmount('5'),
            memos: [{ type: 'text', value: text }]
          })
        ])
    },
    async text => {
      for (const { callbacks } of toy.requests) callbacks.onStatus(text)
    },
    async text => {
      for (const { callbacks } of toy.requests) {
        callbacks.onConnectionChanged({ reason: text } as never)
        callbacks.onConnectionChanged()
      }
    },
    async text => {
      toy.text = text
    },
    async () => {}
  ]
  let reads = 0
  for (let at = 0; at < TEXTS; at += 1) {
    const text = hostileText(random)
    await channels[at % channels.length]?.(text, at)
    const program = programs[at % programs.length]
    if (program === undefined) continue
    const paid = await program.call('propose_payment', {
      ...{ walletId: savings, payee: PAYEE, amount: '0.001 BTC' },
      note: [...text].slice(0, LONGEST).join('')
    })
    checkReply(t, watch, 'propose_payment', paid)
    const proposalId: string = paid.structuredContent?.id ?? '1'
    for (const tool of tools) {
      const walletId = random.oneIn(2) ? savings : toyWallet
      const given = argumentsFor(tool, { ...known, walletId, payee: PAYEE, proposalId }, random.oneIn(2))
      if (random.oneIn(4)) {
        // What a model that was taken in would give.
        const names = Object.keys(given)
        const name = names[random.below(Math.max(1, names.length))]
        if (name !== undefined) given[name] = random.oneIn(2) ? text : [...text].slice(0, LONGEST).join('')
      }
      checkReply(t, watch, tool.name, await program.call(tool.name, given))
      reads += 1
    }
    for (const each of (await run(['proposals', 'list', '--json'])).json.data.proposals)
      await run(['proposals', 'decline', each.id])
  }
  t.is(JSON.stringify(await programs[0]?.tools()), before, 'titles, descriptions and schemas are the same')
  t.is(toy.signed, 0)
  const { transactions } = (await run(['tx', 'list', savings, '--json'])).json.data
  t.is(transactions.length, 1, 'the account paid nothing')
  t.deepEqual((await run(['tx', 'open', savings, '--json'])).json.data.payments ?? [], [])
  t.true(watch.seen > TEXTS, 'the texts reached the programs')
  t.true(watch.repeating.has('swap_compare'), 'and so did those of quotes')
  t.log(`${TEXTS} texts, ${reads} calls, ${watch.seen} texts from outside in their replies`)
})

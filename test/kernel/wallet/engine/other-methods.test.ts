import test from 'ava'
import type { CurrencyEngine, Json, JsonObject, MethodSchema } from '../../../../kernel/index.ts'
import { openToyHome } from '../../../helpers/toy-home.ts'

const SPENDER = { type: 'string', maxLength: 10 } as const
const otherMethods: Readonly<Record<string, MethodSchema>> = {
  getAllowance: {
    description: 'What a contract may still take',
    arguments: {
      type: 'object',
      properties: {
        spender: SPENDER,
        count: { type: 'integer', minimum: 1, maximum: 5 },
        level: { type: 'string', enum: ['low', 'high'] },
        amounts: { type: 'array', maxItems: 2, items: { type: 'string', format: 'native-amount' } },
        isExact: { type: 'boolean' },
        share: { type: 'number' }
      },
      required: ['spender']
    },
    result: {
      type: 'object',
      properties: { amount: { type: 'string', format: 'native-amount' }, note: { type: 'string' } },
      required: ['amount']
    }
  },
  refresh: {
    description: 'Asks the chain again',
    arguments: { type: 'object' },
    result: { type: 'null' }
  },
  missing: { description: 'Is not there', arguments: { type: 'object' }, result: { type: 'null' } }
}

test('a wallet has the methods that its currency declares, checked on both sides, without keys', async t => {
  const calls: unknown[][] = []
  let answer: unknown = { amount: '12', secret: 'not declared' }
  const engine = (): Partial<CurrencyEngine> => ({
    otherMethods: {
      async getAllowance(...args) {
        calls.push(args)
        return answer as Json
      },
      async refresh() {
        return undefined
      },
      async undeclared() {
        return 1
      }
    }
  })
  const { account } = await openToyHome(t, { info: { otherMethods }, engine })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  t.deepEqual(Object.keys(wallet.otherMethods), ['getAllowance', 'refresh', 'missing'])
  t.is(wallet.otherMethods.undeclared, undefined)
  t.is(wallet.otherMethods.toString, undefined as never)
  const call = (args: unknown): Promise<Json> | undefined =>
    wallet.otherMethods.getAllowance?.(args as JsonObject)
  const good = { spender: 'shop', count: 3, level: 'low', amounts: ['1', '2'], isExact: true, share: 0.5 }
  t.deepEqual(await call(good), { amount: '12' })
  t.deepEqual(calls, [[good]])
  t.is((await wallet.otherMethods.refresh?.()) ?? null, null)
  const wrong: readonly (readonly [args: unknown, sentence: string])[] = [
    [undefined, 'The spender of getAllowance is missing'],
    [[], 'The argument of getAllowance must be an object'],
    [{ spender: 7 }, 'The spender of getAllowance must be a text'],
    [{ spender: 'x'.repeat(11) }, 'The spender of getAllowance must have at most 10 characters'],
    [{ spender: 'a', spendr: 'b' }, 'The spendr of getAllowance is not known'],
    [{ spender: 'a', count: 1.5 }, 'The count of getAllowance must be a whole number'],
    [{ spender: 'a', count: 0 }, 'The count of getAllowance must be at least 1'],
    [{ spender: 'a', count: 6 }, 'The count of getAllowance must be at most 5'],
    [{ spender: 'a', level: 'mid' }, 'The level of getAllowance must be one of low, high'],
    [{ spender: 'a', amounts: ['1', '-2'] }, 'The amounts[1] of getAllowance must be a native amount'],
    [{ spender: 'a', amounts: ['1', '2', '3'] }, 'The amounts of getAllowance must have at most 2 items'],
    [{ spender: 'a', isExact: 1 }, 'The isExact of getAllowance must be true or false'],
    [{ spender: 'a', share: 'half' }, 'The share of getAllowance must be a number'],
    [{ spender: 'a'.repeat(1_000_001) }, 'The argument of getAllowance is too long']
  ]
  for (const [args, message] of wrong)
    await t.throwsAsync(async () => call(args), { code: 'OPTION_INVALID', message })
  t.is(calls.length, 1)
  for (const odd of [undefined, 'text', {}, { amount: 12 }, { amount: '12', note: 7 }, { amount: 'x' }]) {
    answer = odd
    await t.throwsAsync(async () => call({ spender: 'a' }), {
      code: 'BOGUS_DATA',
      message: 'Plugin sent bogus result of getAllowance'
    })
  }
  await t.throwsAsync(async () => wallet.otherMethods.missing?.(), { code: 'NOT_SUPPORTED' })
  await account.logout()
  await t.throwsAsync(async () => wallet.otherMethods.refresh?.(), { code: 'LOGGED_OUT' })
})

test('a method that does not answer within a minute fails, and the engine goes on', async t => {
  const { account, clock } = await openToyHome(t, {
    info: { otherMethods },
    engine: () => ({ otherMethods: { refresh: () => new Promise(() => {}) } })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const waiting = t.throwsAsync(async () => wallet.otherMethods.refresh?.(), { code: 'DEADLINE' })
  await clock.advance(60_000)
  await waiting
  t.is(wallet.engine.getSnapshot().state, 'started')
})

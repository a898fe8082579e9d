import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { makeToy } from '../helpers/toy-currency.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const calls: unknown[] = []
const allowance = {
  description: 'What a contract may still take',
  arguments: {
    type: 'object',
    properties: { spender: { type: 'string', maxLength: 10 } },
    required: ['spender']
  },
  result: { type: 'object', properties: { amount: { type: 'string' }, note: { type: 'string' } } }
} as const
const { plugin } = makeToy({
  info: {
    otherMethods: {
      getAllowance: allowance,
      getName: { description: 'Its name', arguments: { type: 'object' }, result: { type: 'string' } }
    }
  },
  engine: () => ({
    otherMethods: {
      async getAllowance(args) {
        calls.push(args)
        return { amount: '12', note: 'übrig\u202e' }
      },
      getName: async () => 'Toy\u001b[31m\u202e'
    }
  })
})

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input, plugins: [plugin] })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const { code, stdout, stderr, json } = await run(...args, '--json')
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
  return json.data
}

test.serial('the methods of a currency are listed with their schemas, and called with JSON', async t => {
  await run('account', 'create', 'alice')
  await run('wallets', 'create', 'toycoin', '--name', 'Toy')
  const { methods } = await dataOf('wallets', 'methods', 'Toy')
  t.deepEqual(
    methods.map(({ name }: { name: string }) => name),
    ['getAllowance', 'getName']
  )
  t.deepEqual(methods[0], { name: 'getAllowance', ...allowance })
  t.regex((await run('wallets', 'methods', 'Toy')).stdout, /getAllowance\tWhat a contract may still take\t\{/)
  const spender = '{"spender":"shop"}'
  const answer = { amount: '12', note: 'übrig\u202e' }
  t.deepEqual((await dataOf('wallets', 'methods', 'Toy', 'getAllowance', '--args', spender)).result, answer)
  const file = join(home, 'args.json')
  writeFileSync(file, spender)
  const called = await dataOf('wallets', 'methods', 'Toy', 'getAllowance', '--args-file', file)
  t.deepEqual(called.result, answer)
  t.deepEqual(calls, [{ spender: 'shop' }, { spender: 'shop' }])
  const { stdout } = await run('wallets', 'methods', 'Toy', 'getName')
  t.regex(stdout, /^Toy/)
  for (const character of ['\u001b', '\u202e'])
    t.false(stdout.includes(character), 'a terminal gets no control characters')
})

test.serial('what no schema allows is refused before the plugin is called', async t => {
  const before = calls.length
  const call = (...args: readonly string[]): Promise<Ran> =>
    run('wallets', 'methods', 'Toy', ...args, '--json')
  failed(t, await call('getAllowance', '--args', '{'), 'USAGE', 2)
  failed(t, await call('getAllowance', '--args', '[]'), 'USAGE', 2)
  failed(t, await call('getAllowance'), 'OPTION_INVALID', 2)
  failed(t, await call('getAllowance', '--args', '{"spender":"a","more":1}'), 'OPTION_INVALID', 2)
  failed(t, await call('toString'), 'NOT_SUPPORTED', 7)
  failed(t, await call('--args', '{}'), 'USAGE', 2)
  failed(t, await call('getName', '--args', '{}', '--args-file', 'x'), 'USAGE', 2)
  t.is(calls.length, before)
})

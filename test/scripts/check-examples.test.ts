import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkExamples, type ExamplesOptions } from '../../scripts/public-examples.ts'

const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc')

/** Checks the examples of a made-up package with one entry. */
const problemsIn = async (
  t: ExecutionContext,
  declarations: string,
  options: Partial<ExamplesOptions> = {}
): Promise<readonly string[]> => {
  const root = join(process.cwd(), '.build', `test-examples-${process.pid}-${folders++}`)
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(root, { recursive: true })
  const exports = { '.': { types: './index.d.ts' } }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'shop', type: 'module', exports }))
  writeFileSync(join(root, 'index.d.ts'), declarations)
  const entries = [join(root, 'index.d.ts')]
  const problems = await checkExamples({ root, entries, names: {}, exempt: {}, tsc, ...options })
  return problems.map(line => line.replace(/^.*index\.ts: /, ''))
}
let folders = 0

const example = (...lines: readonly string[]): string =>
  [
    '/**',
    ' * Does it.',
    ' *',
    ' * @example',
    ' * ```ts',
    ...lines.map(line => ` * ${line}`),
    ' * ```',
    ' */'
  ].join('\n')

const price = 'export declare const price: (coin: string) => number;\n'

test('an example that compiles against the declarations of its package is no problem', async t => {
  const text = `${example("import { price } from 'shop'", '', "const total: number = price('BTC') * amount")}\n${price}`
  t.deepEqual(await problemsIn(t, text, { names: { amount: 'number' } }), [])
})

test('an example that does not compile is a problem, and so is one of a member', async t => {
  const text = [
    example("import { price } from 'shop'", '', 'price(7)'),
    price,
    example("import { Shop } from 'shop'", '', "new Shop().buy('BTC')"),
    'export declare class Shop {',
    example("import { gone } from 'shop'"),
    '  buy(coin: string): void;',
    '}'
  ].join('\n')
  const problems = await problemsIn(t, text)
  t.is(problems.length, 2, problems.join('\n'))
  t.regex(problems[0] ?? '', /^the example of price does not compile: \(3,7\): error TS2345/)
  t.regex(problems[1] ?? '', /^the example of Shop\.buy does not compile: .* no exported member 'gone'/)
})

test('an export that a user calls or implements needs an example or a reason, and data needs neither', async t => {
  const text = [
    price,
    'export declare function ask(): void;',
    'export declare class Shop {}',
    'export interface Till { open(): void }',
    'export interface Listener { readonly onSale: (coin: string) => void }',
    'export type Reader = (text: string) => void;',
    'export type TillPlugin = object;',
    'export interface Coin { readonly code: string }',
    "export type Code = 'BTC' | 'LTC';",
    'export declare const LIMIT = 7;'
  ].join('\n')
  t.deepEqual(
    await problemsIn(t, text),
    ['price', 'ask', 'Shop', 'Till', 'Listener', 'Reader', 'TillPlugin'].map(
      name => `${name} has no @example`
    )
  )
})

test('an exception that is not needed is a problem', async t => {
  const text = `${example('export {}')}\nexport declare const query: () => void;\nexport interface Coin { code: string }\n`
  const exempt = { query: 'it has one', Coin: 'it is data', gone: 'it is no more' }
  t.deepEqual(
    await problemsIn(t, text, { exempt }),
    ['query', 'Coin', 'gone'].map(name => `${name} needs no exception from the examples`)
  )
})

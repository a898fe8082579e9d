import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { exampleNames } from '../../scripts/example-names.ts'
import { publicDeclarations } from '../../scripts/freeze/declarations.ts'
import { type Example, examplesOf } from '../../scripts/public-examples.ts'

/** An expression with its value, `add(…) // '7'`, or with its failure, `nativeAmount('1.5') // throws AMOUNT_INVALID`. */
const RESULT =
  /^(?!const |import |await )(.+?) \/\/ (?:throws (\w+)(?:: .*| ".*)?|('.*'|-?\d+n?|true|false|undefined|\{.*\}))(?:,? [a-z].*)?$/

const usesNames = new RegExp(`\\b(?:${Object.keys(exampleNames).join('|')})\\b[.)]`)

/** The example as a module whose `run` checks each result that is written in it. */
const moduleOf = (code: string): string => {
  const lines = code.split('\n')
  const imports = lines.filter(line => line.startsWith('import '))
  const body = lines
    .filter(line => !line.startsWith('import '))
    .map(line => {
      const [, expression, failure, value] = RESULT.exec(line) ?? []
      if (expression === undefined) return line
      return failure === undefined
        ? `t.deepEqual(${expression}, ${value}, ${JSON.stringify(line)})`
        : `t.true([error(() => ${expression}).code, error(() => ${expression}).name].includes('${failure}'), ${JSON.stringify(line)})`
    })
  return `${imports.join('\n')}
const error = call => { try { call() } catch (thrown) { return thrown } return {} }
export const run = t => {\n${body.join('\n')}\n}\n`
}

const runExamples = async (t: ExecutionContext, examples: readonly Example[]): Promise<void> => {
  const folder = join(process.cwd(), '.build', `example-results-${process.pid}`)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { recursive: true })
  for (const [index, { subject, code }] of examples.entries()) {
    const path = join(folder, `${index}.mjs`)
    writeFileSync(path, moduleOf(code))
    const { run } = (await import(pathToFileURL(path).href)) as { run(t: ExecutionContext): void }
    t.notThrows(() => run(t), subject)
  }
}

test('a result that is written in an example is what the example gives', async t => {
  const all = examplesOf(publicDeclarations('dist/kernel/index.d.ts'))
  const examples = all.filter(
    ({ code }) => code.split('\n').some(line => RESULT.test(line)) && !usesNames.test(code)
  )
  t.true(examples.length >= 25, `${examples.length} examples have results`)
  await runExamples(t, examples)
})

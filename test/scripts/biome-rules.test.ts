import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'

const biome = join(process.cwd(), 'node_modules/@biomejs/biome/bin/biome')

/** The rules that a made-up tree breaks under our own configuration, as `path rule`. */
const findingsIn = (files: Readonly<Record<string, string>>): readonly string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-biome-'))
  try {
    spawnSync('git', ['init', '-q'], { cwd: folder })
    cpSync('biome.json', join(folder, 'biome.json'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const args = [biome, 'lint', '--reporter=github', '--max-diagnostics=none', '.']
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    const found = [...stdout.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+)/g)].map(
      ([, rule, path]) => `${(path ?? '').replace(/^.*?(?=(?:kernel|cli|test)\/)/, '')} ${rule}`
    )
    return [...new Set(found)].sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('')

const longFunction = `export const f = (): number => {\n  let a = 1\n${lines(70, () => '  a += 1')}  return a\n}\n`

test('each house rule of the linter fires', t => {
  const found = findingsIn({
    'kernel/Bad_name.ts': [
      "import fs from 'fs'",
      "import { Readable } from 'node:stream'",
      "export * from './b.ts'",
      'export enum Color { Red = 1 }',
      'export const read = (stream: Readable, x: any): unknown => [stream, x, fs]',
      "console.log('x')",
      'export default read'
    ].join('\n'),
    'kernel/b.ts': "import type { C } from './c.ts'\nexport interface B { c: C }\n",
    'kernel/c.ts': "import type { B } from './b.ts'\nexport interface C { b: B }\n",
    'kernel/long-function.ts': longFunction,
    'kernel/long-file.ts': lines(410, i => `export const a${i} = ${i}`)
  })
  t.deepEqual(found, [
    'kernel/Bad_name.ts noBarrelFile',
    'kernel/Bad_name.ts noConsole',
    'kernel/Bad_name.ts noDefaultExport',
    'kernel/Bad_name.ts noEnum',
    'kernel/Bad_name.ts noExplicitAny',
    'kernel/Bad_name.ts useFilenamingConvention',
    'kernel/Bad_name.ts useImportType',
    'kernel/Bad_name.ts useNodejsImportProtocol',
    'kernel/b.ts noImportCycles',
    'kernel/c.ts noImportCycles',
    'kernel/long-file.ts noExcessiveLinesPerFile',
    'kernel/long-function.ts noExcessiveLinesPerFunction'
  ])
})

test('the exceptions hold: long comments, tests, the console of the command line, the two barrels', t => {
  t.deepEqual(
    findingsIn({
      'kernel/index.ts': "export * from './b.ts'\n",
      'kernel/b.ts': `${lines(300, () => '// Why.')}export const b = 1\n`,
      'cli/main.ts': "console.log('x')\n",
      'test/long.test.ts': longFunction + lines(410, i => `export const a${i} = ${i}`)
    }),
    []
  )
})

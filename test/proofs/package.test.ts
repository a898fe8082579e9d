import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'

const run = promisify(execFile)

interface Packed {
  /** A project that has the package installed. */
  readonly project: string
  /** The folder of the package in it. */
  readonly folder: string
  /** What a program imports: all exports but files that it reads or serves. */
  readonly entries: readonly string[]
}

/** Packs the package as npm would publish it and unpacks it beside the packages that it depends on, and only those. */
const installPacked = async (t: ExecutionContext): Promise<Packed> => {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-packed-'))
  t.teardown(() => rm(project, { recursive: true, force: true }))
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', project]
  const { stdout } = await run('npm', args, { maxBuffer: 1 << 26, shell: process.platform === 'win32' })
  const [{ filename = '' } = {}] = JSON.parse(stdout) as { filename?: string }[]
  const folder = join(project, 'node_modules/holdfast')
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', join(project, filename), '-C', folder, '--strip-components=1'])
  const { dependencies, peerDependencies, exports } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8')
  ) as { dependencies: object; peerDependencies: object; exports: Record<string, unknown> }
  // The types of React are what an application with React has.
  const beside = [
    ...Object.keys({ ...dependencies, ...peerDependencies }),
    ...(await readdir('node_modules/@types')).map(name => `@types/${name}`)
  ]
  for (const name of beside) {
    const link = join(project, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(process.cwd(), 'node_modules', name), link, 'junction')
  }
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  const entries = Object.keys(exports)
    .filter(name => !/\.(?:html|json)$/.test(name))
    .map(name => `holdfast${name.slice(1)}`)
  return { project, folder, entries }
}

test('the packed package has every entry, with one WalletError for all of them', async t => {
  const { project, folder, entries } = await installPacked(t)
  t.regex(await readFile(join(folder, 'dist/lib/browser/cell-frame.html'), 'utf8'), /^<!doctype html>/i)
  const script = `
    const found = new Set()
    for (const name of ${JSON.stringify(entries)}) {
      // A worker of web pages, which listens for jobs.
      if (name.endsWith('-worker')) globalThis.addEventListener = () => {}
      const entry = await import(name)
      if ('WalletError' in entry) found.add(entry.WalletError)
    }
    const { WalletError, createKernel } = await import('holdfast')
    const { makeNodeIo } = await import('holdfast/node')
    const { keyvDisk } = await import('holdfast/plugins/storage/keyv-disk')
    const failures = await Promise.allSettled([
      createKernel({ io: makeNodeIo(), plugins: [], apiKey: '' }),
      keyvDisk(new Map()).getText('../a')
    ])
    console.log(JSON.stringify([found.size, ...failures.map(({ reason }) => reason instanceof WalletError && reason.code)]))`
  await writeFile(join(project, 'main.js'), script)
  const { stdout } = await run(process.execPath, ['main.js'], { cwd: project })
  t.deepEqual(JSON.parse(stdout), [1, 'PLUGINS_MISSING', 'PATH_REFUSED'])
})

test('the types of every entry of the packed package compile in a program of its user', async t => {
  const { project, entries } = await installPacked(t)
  const lines = entries.map((name, i) => `export * as entry${i} from '${name}'`)
  await writeFile(join(project, 'main.ts'), `${lines.join('\n')}\n`)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    strict: true,
    noEmit: true,
    types: ['node']
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
  const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc')
  const ended = await run(process.execPath, [tsc, '-p', project]).catch((error: { stdout?: string }) => error)
  t.is(ended.stdout, '')
})

test('the packed package carries the licences of the packages that are bundled, and its command starts', async t => {
  const { project, folder } = await installPacked(t)
  const texts = await readFile(join(folder, 'dist/lib/THIRD-PARTY.txt'), 'utf8')
  for (const name of ['@noble/curves', '@scure/base', 'big-integer', 'tapable', 'yup']) {
    t.regex(texts, new RegExp(`^${name} \\d`, 'm'))
  }
  t.regex(await readFile(join(folder, 'dist/bin/THIRD-PARTY.txt'), 'utf8'), /^ink \d/m)
  const { stdout } = await run(process.execPath, [join(folder, 'dist/bin/holdfast.js'), '--version'], {
    cwd: project
  })
  t.regex(stdout, /^\d+\.\d+\.\d+\n$/)
})

test('a test of three lines checks a plugin with the packed kit, in node:test and in AVA', async t => {
  const { project } = await installPacked(t)
  await symlink(join(process.cwd(), 'node_modules/ava'), join(project, 'node_modules/ava'), 'junction')
  await writeFile(
    join(project, 'shop.js'),
    `export const shopOf = price => ({
      kind: 'rates', id: 'shop', displayName: 'Shop',
      apply: ({ hooks }) => hooks.fetchRates.tapPromise('shop', async ({ wanted, offer }) => {
        if (wanted.some(pair => pair.fromCurrency === 'BTC')) offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, price)
      })
    })\n`
  )
  const testOf = (runner: string, price: number): string => `
    import test from '${runner}'
    import { testRatePlugin } from 'holdfast/testing'
    import { shopOf } from './shop.js'
    testRatePlugin(test, shopOf(${price}), { valid: [{ wanted: ['BTC iso:USD'], offers: { 'BTC iso:USD': 64000 } }] })`
  const start = async (args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> =>
    run(process.execPath, args, { cwd: project }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, text: stdout })
    )
  for (const [runner, args] of [
    ['node:test', ['--test', '--test-reporter=tap', 'shop.test.js']],
    ['ava', ['node_modules/ava/entrypoints/cli.mjs', '--tap', 'shop.test.js']]
  ] as const) {
    await writeFile(join(project, 'shop.test.js'), testOf(runner, 64_000))
    const sound = await start(args)
    t.is(sound.code, 0, sound.text)
    t.regex(sound.text, /ok \d+ - (?:.*)rates\.accepted/)
    await writeFile(join(project, 'shop.test.js'), testOf(runner, 32_000))
    const broken = await start(args)
    t.is(broken.code, 1, broken.text)
    t.is(broken.text.match(/^ *not ok \d+ - (?:.*)rates\.valid/gm)?.length, 1)
    t.regex(broken.text, /It offers 32000 for BTC iso:USD, and the case says 64000/)
  }
})

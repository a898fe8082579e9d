import { join } from 'node:path'
import test from 'ava'
import { createKernel, isWalletError, type Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { bundled, openCellStage, pinOf } from '../helpers/cell-stage.ts'
import { waitFor } from '../helpers/device.ts'
import { MISTAKES } from '../helpers/plugin-mistakes.ts'

/** What cannot be contained at all has a sentence of its own. */
const OTHERWISE: readonly string[] = ['tapPromise for tap', 'a storage that opens nothing']

/** What a kernel says of a plugin that fails; undefined if it applies it. */
const reasonOf = async (plugin: unknown): Promise<unknown> => {
  const kernel = await createKernel({
    ...{ io: makeNodeIo(), apiKey: '', logLevel: 'silent', onError() {} },
    plugins: [memoryStorage(), plugin as Plugin]
  })
  const failed = kernel.context.plugins.find(({ state }) => state === 'failed')
  await kernel.close()
  return failed?.mistake ?? failed?.message
}

test('each mistake of a plugin is refused in a cell with the same sentence as in the process of the kernel', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const table = await bundled(
    `export { MISTAKES } from '${join(process.cwd(), 'test/helpers/plugin-mistakes.ts')}'`
  )
  const inCell = async (at: number, given: unknown): Promise<unknown> => {
    const code = `${table}\ndefinePlugin(__plugin.MISTAKES[${at}][1])`
    const load = (id: string, kind: string): Promise<unknown> => {
      const asks = { kind, hosts: [], keys: kind === 'currency' } as never
      return stage.cells.plugin({ id, code, sha512: pinOf(code), asks }).catch((error: unknown) => error)
    }
    // Most are refused before the kind that was agreed on matters: those need no process of their own.
    const first = await load('mine', 'observer')
    const { id, kind } = (given ?? {}) as { readonly id: string; readonly kind: string }
    const isOther =
      isWalletError(first, 'PLUGIN_INVALID') && /must be "(?:mine|observer)"/.test(first.message)
    const answer = isOther ? await load(id, kind) : first
    if (!(answer instanceof Error)) return reasonOf(answer)
    if (!isWalletError(answer, 'PLUGIN_INVALID')) return answer.message
    const { pluginId: _, ...mistake } = answer.details as { pluginId: string }
    return mistake
  }
  const rows = [...MISTAKES.entries()].filter(([, [what]]) => !OTHERWISE.includes(what))
  t.true(rows.length > 60)
  for (const [at, [what, given]] of rows) {
    const expected = await reasonOf(given)
    t.not(expected, undefined, what)
    t.deepEqual(await inCell(at, given), expected, what)
  }
  t.deepEqual(stage.faults, [])
})

test('what an asynchronous apply throws in a cell reaches the kernel, which then has no such policy', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const code = `definePlugin({ kind: 'policy', id: 'slow', async apply({ hooks, disk }) {
    hooks.beforeSign.tapPromise('slow', async () => {})
    await disk.getText('rules')
    throw new Error('the rules are gone')
  } })`
  const policy = await stage.load(code, { id: 'slow', kind: 'policy' })
  const plugins = [memoryStorage(), policy]
  const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', logLevel: 'silent', plugins })
  t.teardown(() => kernel.close())
  const found = () => kernel.context.plugins.find(({ pluginId }) => pluginId === 'slow')
  await waitFor(() => found()?.state === 'failed')
  t.is(found()?.message, 'the rules are gone')
})

for (const [what, tap] of [
  ['taps after an await', "hooks.beforeSign.tapPromise('slow', async () => {})"],
  [
    'taps after an await and catches what that throws',
    "try { hooks.beforeSign.tapPromise('slow', async () => {}) } catch {}"
  ]
] as const) {
  test(`a policy in a cell that ${what} has failed, since that tap would never be called`, async t => {
    const stage = openCellStage()
    t.teardown(() => stage.cells.close())
    const code = `definePlugin({ kind: 'policy', id: 'slow', async apply({ hooks, disk }) {
      await disk.getText('rules').catch(() => {})
      ${tap}
    } })`
    const policy = await stage.load(code, { id: 'slow', kind: 'policy' })
    const plugins = [memoryStorage(), policy]
    const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', logLevel: 'silent', plugins })
    t.teardown(() => kernel.close())
    const found = () => kernel.context.plugins.find(({ pluginId }) => pluginId === 'slow')
    await waitFor(() => found()?.state === 'failed')
    t.regex(found()?.message ?? '', /hooks\.beforeSign is tapped after apply has returned/)
  })
}

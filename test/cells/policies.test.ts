import test, { type ExecutionContext } from 'ava'
import { createKernel, type Disk, isWalletError, type Plugin, type PolicyPlugin } from '../../kernel/index.ts'
import { requestKeys } from '../../kernel/keys/key-gate.ts'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { policyHost, swapHost } from '../../kernel/plugins/plugin.ts'
import { PluginSet } from '../../kernel/plugins/plugin-set.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk, memoryStorage } from '../../plugins/storage/memory.ts'
import { type CellStage, openCellStage } from '../helpers/cell-stage.ts'
import { waitFor } from '../helpers/device.ts'

const SPEND = {
  ...{ pluginId: 'toycoin', walletId: 'w1', currencyCode: 'TOY', tokenId: null },
  ...{ use: 'spend', nativeAmount: '5', networkFee: '1' }
} as const

/** What a kernel has of a policy: its hooks, what is known of it, and the gate before keys. */
const openGate = (stage: CellStage, policies: readonly Plugin[], disk: Disk = memoryDisk()) => {
  const io = makeNodeIo()
  const hooks = makeKernelHooks({ clock: io.clock, onFault() {} })
  const plugins = new PluginSet(hooks)
  for (const policy of policies)
    plugins.add(policy, plugin => {
      if (plugin.kind !== 'policy') throw new TypeError('It is no policy')
      plugin.apply(
        policyHost(plugin.id, {
          ...{ hooks, io, disk, log: stage.log, options: {}, onFault() {} },
          fail: error => plugins.failPolicy(plugin.id, error)
        })
      )
    })
  const sign = (): Promise<unknown> =>
    requestKeys({ hooks, io, plugins }, { async check() {} }, SPEND as never)
  return { plugins, sign }
}

const openStage = (t: ExecutionContext) => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const policy = (apply: string, id = 'guard'): Promise<Plugin> =>
    stage.load(
      `definePlugin({ kind: 'policy', id: '${id}', apply(host) { const { hooks, disk, fail, log } = host; ${apply} } })`,
      { id, kind: 'policy' }
    )
  return { stage, policy }
}

const RULE = "hooks.judgeRules.tapPromise('guard', async () => {});"
const LATE = "hooks.beforeSign.tapPromise('guard', async () => { throw new Error('no') })"

for (const [what, apply] of [
  ['in a timer', `setTimeout(() => { ${LATE} }, 200)`],
  ['in a timer, and catches what that throws', `setTimeout(() => { try { ${LATE} } catch {} }, 200)`],
  ['after a promise that it did not return', `disk.getText('rules').then(() => { ${LATE} }).catch(() => {})`],
  [
    'after its asynchronous apply has ended',
    `setTimeout(() => { try { ${LATE} } catch {} }, 200); return Promise.resolve()`
  ]
] as const)
  test(`a policy in a cell that taps ${what} has failed, and nothing is signed`, async t => {
    const { stage, policy } = openStage(t)
    const { plugins, sign } = openGate(stage, [await policy(RULE + apply)])
    await waitFor(() => plugins.snapshots[0]?.state === 'failed')
    t.regex(plugins.snapshots[0]?.message ?? '', /hooks\.beforeSign is tapped after apply has returned/)
    await t.throwsAsync(sign(), { code: 'SIGN_REFUSED', message: /tapped after apply has returned/ })
    t.is(stage.faults.at(-1)?.state, 'stopped')
  })

test('a policy in a cell that tapped too late before it was given to a kernel has failed there', async t => {
  const { stage, policy } = openStage(t)
  const guard = await policy(`${RULE} setTimeout(() => { ${LATE} })`)
  await waitFor(() => stage.faults.length > 0)
  const kernel = await createKernel({
    ...{ io: makeNodeIo(), apiKey: '', logLevel: 'silent' as const },
    plugins: [memoryStorage(), guard]
  })
  t.teardown(() => kernel.close())
  t.is(kernel.context.plugins.find(({ pluginId }) => pluginId === 'guard')?.state, 'failed')
})

test('a policy that says that it cannot judge any more has failed, in a cell too', async t => {
  const { stage, policy } = openStage(t)
  const inside: PolicyPlugin = {
    ...{ kind: 'policy' as const, id: 'inside' },
    apply: ({ fail }) => fail(new Error('my rules are gone'))
  }
  const { plugins, sign } = openGate(stage, [inside])
  t.like(plugins.snapshots[0], { state: 'failed', message: 'my rules are gone' })
  await t.throwsAsync(sign(), { code: 'SIGN_REFUSED', message: /my rules are gone/ })
  const contained = openGate(stage, [
    await policy(`${RULE} setTimeout(() => fail(new Error('all gone')), 100)`)
  ])
  await waitFor(() => contained.plugins.snapshots[0]?.state === 'failed')
  await t.throwsAsync(contained.sign(), { code: 'SIGN_REFUSED', message: /all gone/ })
})

test('a policy in a cell that taps nothing by which it could refuse is not loaded', async t => {
  const { stage, policy } = openStage(t)
  const expected = { field: 'hooks.beforeSign' }
  const refused = await policy("hooks.ready.tapPromise('guard', async () => {})").catch(
    (error: unknown) => error
  )
  t.true(isWalletError(refused, 'PLUGIN_INVALID'))
  t.like((refused as { details?: object }).details, expected)
  t.deepEqual(stage.cells.processes, [])
  const slow = openGate(stage, [await policy("return disk.getText('rules')", 'slow')])
  await waitFor(() => slow.plugins.snapshots[0]?.state === 'failed')
  t.regex(slow.plugins.snapshots[0]?.message ?? '', /hooks\.beforeSign is not tapped/)
  await t.throwsAsync(slow.sign(), { code: 'SIGN_REFUSED' })
})

test('of two taps of one hook in a cell the kernel calls each as its own, in the order that they want', async t => {
  const { stage, policy } = openStage(t)
  const tap = (name: string, rest = ''): string =>
    `hooks.beforeSign.tapPromise('x', async () => { console.log('${name}'); ${rest} }, ORDER);`
  const last = await policy(tap('last').replace('ORDER', '{ stage: 10 }'), 'last')
  const twice = await policy(
    tap('second', "throw new Error('no')").replace('ORDER', '{ stage: 5 }') +
      tap('first').replace('ORDER', "{ before: 'last' }"),
    'twice'
  )
  const { sign } = openGate(stage, [last, twice])
  await t.throwsAsync(sign(), { message: 'The policy twice refused to sign: no' })
  t.deepEqual(
    stage.seen.filter(line => ['first', 'second', 'last'].includes(line)),
    ['first', 'second']
  )
})

test('two taps of a plugin in a cell answer as two of any plugin: the first answer wins, or both are asked', async t => {
  const { stage } = openStage(t)
  const shop = await stage.load(
    `definePlugin({ kind: 'swap', id: 'shop', displayName: 'Shop', apply({ hooks, log }) {
      hooks.fetchQuotes.tapPromise('shop', async () => { log.info('quote 1'); throw new Error('quote 1') })
      hooks.fetchQuotes.tapPromise('shop', async () => { log.info('quote 2') })
      hooks.watchOrder.tapPromise('shop', async () => { log.info('first'); return { state: 'seen' } })
      hooks.watchOrder.tapPromise('shop', async () => { log.info('second'); throw new Error('second') })
    } })`,
    { id: 'shop', kind: 'swap' }
  )
  const io = makeNodeIo()
  const hooks = makeKernelHooks({ clock: io.clock, onFault() {} })
  if (shop.kind !== 'swap') throw new TypeError('It is no exchange')
  const parts = { hooks, io, disk: memoryDisk(), log: stage.log, options: {}, onFault() {} }
  shop.apply(swapHost('shop', parts))
  const signal = { aborted: false, addEventListener() {}, removeEventListener() {} }
  const order = { orderId: 'a', txid: 'b', signal }
  t.deepEqual(await hooks.watchOrder.for('shop').promise(order as never), { state: 'seen' })
  t.deepEqual(stage.seen, ['first'])
  stage.seen.length = 0
  const quote = { request: {}, userSettings: {}, signal }
  await hooks.fetchQuotes.promise({ contextFor: () => quote } as never)
  t.deepEqual(stage.seen, ['quote 1', 'quote 2'])
})

/** A policy that judges by a file, in its second life: the test says when, and with what, its disk answers. */
const openSecondLife = async (t: ExecutionContext) => {
  const { stage, policy } = openStage(t)
  const answer: { give(text: string | Error): void } = { give() {} }
  let reads = 0
  const disk: Disk = {
    ...memoryDisk(),
    getText: async () => {
      reads += 1
      if (reads === 1) return 'strict'
      const text = await new Promise<string | Error>(resolve => {
        answer.give = resolve
      })
      if (text instanceof Error) throw text
      return text
    }
  }
  const guard = await policy(`let rules
    hooks.beforeSign.tapPromise('guard', async () => { if (rules === 'strict') throw new Error('too much') })
    return disk.getText('rules').then(text => { rules = text })`)
  const gate = openGate(stage, [guard], disk)
  await waitFor(() => gate.plugins.policyFailure === undefined)
  await t.throwsAsync(gate.sign(), { message: 'The policy guard refused to sign: too much' })
  const [{ pid = 0 } = {}] = stage.cells.processes
  process.kill(pid, 'SIGKILL')
  await waitFor(() => stage.faults.at(-1)?.state === 'running' && reads === 2)
  const signing = gate.sign()
  const { clock } = makeNodeIo()
  for (let turn = 0; turn < 3; turn += 1) await clock.turn()
  return { ...gate, signing, answer }
}

test('a policy in a cell that was started again judges nothing before its apply has ended', async t => {
  const { signing, answer } = await openSecondLife(t)
  answer.give('strict')
  await t.throwsAsync(signing, { message: 'The policy guard refused to sign: too much' })
})

test('a policy in a cell whose apply fails after it was started again has failed, and nothing is signed', async t => {
  const { signing, answer, plugins, sign } = await openSecondLife(t)
  answer.give(new Error('no such file'))
  await t.throwsAsync(signing, { code: 'PLUGIN_FAILED', message: /no such file/ })
  t.like(plugins.snapshots[0], { state: 'failed', message: 'no such file' })
  await t.throwsAsync(sign(), { code: 'SIGN_REFUSED', message: /no such file/ })
})

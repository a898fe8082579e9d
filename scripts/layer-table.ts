/** A folder or file of the tree, with what it may import from elsewhere. */
export interface Room {
  /** A path without extension; a final `*` makes each entry below it a room of its own. */
  readonly path: string
  /** When given, the only other rooms it may import; otherwise every room of a higher line. */
  readonly only?: readonly string[]
  /** The packages it may import: a name, or a prefix that ends in `/` or `:`; all of them when absent. */
  readonly packages?: readonly string[]
}

const CRYPTO = ['@noble/', '@scure/']
const KERNEL = [...CRYPTO, 'tapable', 'yup', 'keyv']
const PLUGIN = [...CRYPTO, 'big-integer', 'keyv', 'yup']
const NODE = 'node:'

const kernel = (path: string): Room => ({ path, packages: KERNEL })
const plugin = (path: string): Room => ({ path, packages: PLUGIN, only: ['kernel/plugin-api'] })
// Shared by the storage plugins: how a Keyv store becomes a Disk.
const KEYV_DISK = 'plugins/storage/keyv-disk'
// Shared by the storage plugins of web pages: how a page keeps other pages out.
const PAGE_LOCK = 'plugins/storage/page-lock'
// Shared by the storage plugins: what a failure is called.
const STORAGE_ERROR = 'plugins/storage/storage-error'
// Shared by the storage plugins: how they wait.
const STORAGE_TIMERS = 'plugins/storage/timers'
// Shared by the swap plugins: exact figures, polite requests, refusals.
const SWAP_KIT = 'plugins/swap/kit'
// Shared by the rate plugins: how a source is asked and read.
const RATE_KIT = 'plugins/rates/kit'
const RATE_PLUGIN = { packages: PLUGIN, only: ['kernel/plugin-api', RATE_KIT] }
const STORAGE = ['kernel/plugin-api', STORAGE_ERROR, STORAGE_TIMERS, KEYV_DISK, PAGE_LOCK]
const free = (path: string): Room => ({ path })

// The folders of the devtools; the lines below give their order.
const devtoolsCore = (path: string): Room => ({
  path,
  packages: [],
  only: ['kernel/index', 'app', 'devtools/core']
})
const devtoolsReact = (path: string): Room => ({
  path,
  packages: ['react', 'react-dom', '@tanstack/react-virtual', '@dagrejs/dagre', 'uqr'],
  only: ['kernel/index', 'app', 'devtools/core', 'devtools/use-store', 'devtools/react']
})

const FORMATS = ['types', 'schema', 'store', 'crypto', 'io', 'base'].map(name => `kernel/${name}`)
// A platform implements the io port: it shares the port, its crypto and the base.
const PORTS = ['kernel/index', 'kernel/io', 'kernel/crypto', 'kernel/base']
const FACES = [
  ...['kernel/index', 'plugins', 'platform', 'app', 'devtools/core', 'devtools/use-store', 'fake-server']
]

// A leaf, so that what starts before the kernel is loaded may import it.
const COMPACT = 'kernel/base/compact'

// The folders of the command line; the lines below give their order.
const cli = (path: string): Room => ({
  path,
  only: [...FACES, COMPACT, 'devtools/server', 'cells', 'testing', 'cli']
})

/**
 * The layers of the tree, from the bottom up.
 *
 * A room imports from itself and from earlier lines only; rooms that share a line do not import each other.
 */
export const layers: readonly (readonly Room[])[] = [
  [{ path: 'kernel/io', packages: [] }],
  [
    kernel('kernel/base/copy-data'),
    kernel('kernel/base/time'),
    { path: 'kernel/base/compact', packages: [] }
  ],
  [kernel('kernel/base/errors')],
  [{ path: 'kernel/base/amount', packages: ['big-integer'] }],
  [kernel('kernel/base')],
  [kernel('kernel/types'), kernel('kernel/store')],
  [kernel('kernel/crypto'), kernel('kernel/schema')],
  [kernel('kernel/plugins')],
  [kernel('kernel/keys'), kernel('kernel/repo')],
  [kernel('kernel/sync')],
  [kernel('kernel/login')],
  [kernel('kernel/wallet/history'), kernel('kernel/wallet/engine')],
  [kernel('kernel/wallet/spend')],
  [
    kernel('kernel/wallet'),
    { path: 'kernel/rates', packages: [...KERNEL, 'tinyqueue'] },
    kernel('kernel/swap')
  ],
  [kernel('kernel/account')],
  [kernel('kernel/context')],
  [kernel('kernel/kernel'), kernel('kernel/observer-api'), kernel('kernel/plugin-api')],
  [kernel('kernel/index')],
  [
    {
      path: 'cells',
      packages: [],
      only: [
        'kernel/plugin-api',
        'kernel/plugins/hook-table',
        'kernel/plugins/method-names',
        'kernel/plugins/plugin-mistake',
        'kernel/plugins/read-plugin'
      ]
    }
  ],
  [plugin(STORAGE_ERROR), plugin(STORAGE_TIMERS), plugin(RATE_KIT), plugin(SWAP_KIT)],
  [
    { path: KEYV_DISK, packages: PLUGIN, only: ['kernel/plugin-api', STORAGE_ERROR] },
    { path: PAGE_LOCK, packages: PLUGIN, only: ['kernel/plugin-api', STORAGE_TIMERS] }
  ],
  [
    plugin('plugins/currency/*'),
    { path: 'plugins/rates/*', ...RATE_PLUGIN },
    { path: 'plugins/rates/ecb', ...RATE_PLUGIN, packages: ['@rgrove/parse-xml'] },
    { path: 'plugins/swap/*', packages: PLUGIN, only: ['kernel/plugin-api', SWAP_KIT] },
    { path: 'plugins/storage/*', packages: PLUGIN, only: STORAGE },
    { path: 'plugins/storage/file', packages: [...PLUGIN, NODE], only: STORAGE },
    { path: 'plugins/storage/browser', packages: [...PLUGIN, 'idb'], only: STORAGE },
    plugin('plugins/policy'),
    plugin('plugins/edge'),
    { path: 'cells/node', packages: [NODE], only: ['kernel/plugin-api', 'cells'] },
    { path: 'cells/browser', packages: CRYPTO, only: ['kernel/plugin-api', 'cells'] },
    { path: 'platform/node', packages: [...CRYPTO, NODE, 'socks', 'ws'], only: PORTS },
    { path: 'platform/browser', packages: CRYPTO, only: PORTS },
    { path: 'app/format', packages: [], only: ['kernel/index'] },
    { path: 'fake-server', packages: CRYPTO, only: ['kernel/index', ...FORMATS] },
    {
      path: 'fake-server/users',
      packages: CRYPTO,
      only: ['kernel/index', 'kernel/keys', 'kernel/login', 'fake-server', ...FORMATS]
    },
    {
      path: 'fake-server/http',
      packages: [...CRYPTO, NODE, 'ws'],
      only: ['kernel/index', 'fake-server', ...FORMATS]
    },
    {
      path: 'fake-server/node',
      packages: [...CRYPTO, NODE],
      only: ['kernel/index', 'fake-server', ...FORMATS]
    }
  ],
  [{ path: 'app/actions', packages: [], only: ['kernel/index', 'app'] }],
  [devtoolsCore('devtools/core/model')],
  [devtoolsCore('devtools/core/rows'), devtoolsCore('devtools/core/protocol')],
  [devtoolsCore('devtools/core/host'), devtoolsCore('devtools/core/client')],
  [devtoolsCore('devtools/core/recording')],
  [devtoolsCore('devtools/core')],
  [
    { path: 'plugins/default-plugins', packages: [], only: ['kernel/plugin-api', 'plugins'] },
    { path: 'devtools/use-store', packages: ['react'], only: ['kernel/index', 'app', 'devtools/core'] },
    { path: 'devtools/server', packages: [NODE, 'ws'], only: ['kernel/index', 'app', 'devtools/core'] }
  ],
  [devtoolsReact('devtools/react/state')],
  [devtoolsReact('devtools/react/parts')],
  [devtoolsReact('devtools/react/panels')],
  [devtoolsReact('devtools/react/frame')],
  [devtoolsReact('devtools/react')],
  [
    {
      path: 'devtools/panel',
      packages: [],
      only: ['kernel/index', 'app', 'devtools/core', 'devtools/react']
    },
    { path: 'devtools/standalone', only: [...FACES, 'devtools/react', 'cells'] },
    cli('cli/terminal'),
    {
      path: 'testing',
      packages: [NODE],
      only: ['kernel', 'plugins', 'platform/node', 'fake-server', 'cells']
    }
  ],
  [cli('cli/errors')],
  [cli('cli/profile')],
  [cli('cli/grammar')],
  [cli('cli/output'), cli('cli/secrets')],
  [cli('cli/screens'), cli('cli/programs'), cli('cli/plugins')],
  [cli('cli/session')],
  [cli('cli/rates'), cli('cli/spend')],
  [cli('cli/swap')],
  [cli('cli/export'), cli('cli/demo'), cli('cli/devtools'), cli('cli/mcp')],
  [cli('cli/agent'), cli('cli/dev')],
  [cli('cli/commands')],
  [cli('cli')],
  [free('test'), free('bench'), free('examples'), free('templates'), free('scripts')]
]

/** The top folders that hold TypeScript. */
export const topFolders: readonly string[] = [
  'kernel',
  'plugins',
  'platform',
  'app',
  'cells',
  'cli',
  'devtools',
  'fake-server',
  'testing',
  'test',
  'bench',
  'examples',
  'templates',
  'scripts'
]

/** The only files that pass on what other files export. */
export const barrels: readonly string[] = [
  'kernel/index.ts',
  'kernel/observer-api.ts',
  'kernel/plugin-api.ts',
  'platform/node/index.ts',
  'platform/browser/index.ts',
  // A public entry whose names differ from those within the fake server.
  'fake-server/request-faults.ts',
  'testing/index.ts'
]

/** Pairs of folders that import each other: there is none, and none may come. */
export const mutualFolders: readonly (readonly [string, string])[] = []

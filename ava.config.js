// The tests are the emitted code: `npm run build` first, `npm test` does both.
const out = process.env.HOLDFAST_TEST_OUT ?? 'dist'
// The interop tests need a package registry, the browser tests a browser, those with nodes a node, and the proofs take minutes, so
// they run only when asked for: `npm run test:interop`, `npm run test:browser`, `npm run test:nodes`, `npm run test:proofs`.
const apart = {
  interop: `${out}/test/interop/**/*.test.js`,
  browser: `${out}/test/browser/**/*.test.js`,
  proofs: `${out}/test/proofs/**/*.test.js`,
  author: `${out}/test/author/**/*.test.js`,
  nodes: `${out}/test/nodes/**/*.test.js`
}
// The tests of the command line once more, with an agent that runs the commands, and those of the agent itself:
// `npm run test:agent`.
// What makes the disk of a command silent would silence the agent.
const agent = [`${out}/test/cli/**/*.test.js`, `!${out}/test/cli/silent-disk.test.js`]
const suite = process.env.HOLDFAST_SUITE === 'agent' ? agent : apart[process.env.HOLDFAST_SUITE]
// All of `npm test`: files that import the test files which share a process (`scripts/test-groups.ts`).
const isGrouped = process.env.HOLDFAST_TEST_GROUPS === '1'
const unit = isGrouped
  ? ['dist/groups/**/*.test.js']
  : [
      `${out}/test/**/*.test.js`,
      `!${out}/test/cli/agent/**`,
      ...Object.values(apart).map(pattern => `!${pattern}`)
    ]

// Groups whose tests wait one after another begin first: one of them that began last would run alone at the end.
const LONG = [
  'plugins/currency/all',
  'cli/all',
  'cells/all',
  'cli/swap/all',
  'kernel/account/all',
  'kernel/sync/'
]
const rankOf = file => {
  const place = LONG.findIndex(name => file.includes(`/groups/${name}`))
  return place === -1 ? LONG.length : place
}

export default {
  ...(isGrouped
    ? { sortTestFiles: (one, other) => rankOf(one) - rankOf(other) || one.localeCompare(other) }
    : {}),
  files: suite === undefined ? unit : [suite].flat(),
  workerThreads: false,
  // Some of the tests of `npm test` wait for what does not come.
  concurrency: suite === undefined ? 4 : 3,
  timeout: ['proofs', 'browser', 'author', 'nodes'].includes(process.env.HOLDFAST_SUITE) ? '5m' : '2m',
  // A larger young generation: most of what a test makes is gone at once.
  nodeArguments: [
    '--max-semi-space-size=64',
    '--enable-source-maps',
    // Nothing of ours makes code of texts. What drives the browser does.
    ...(['browser', 'author'].includes(process.env.HOLDFAST_SUITE)
      ? []
      : ['--disallow-code-generation-from-strings'])
  ]
}

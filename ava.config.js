// The tests are the emitted code: `npm run build` first, `npm test` does both.
const out = process.env.HOLDFAST_TEST_OUT ?? 'dist'
// The interop tests need a package registry, so they run only when asked for: `npm run test:interop`.
const interop = `${out}/test/interop/**/*.test.js`

export default {
  files: process.env.HOLDFAST_SUITE === 'interop' ? [interop] : [`${out}/test/**/*.test.js`, `!${interop}`],
  workerThreads: false,
  concurrency: 2,
  timeout: '2m',
  nodeArguments: ['--enable-source-maps', '--disallow-code-generation-from-strings']
}

// The tests are the emitted code: `npm run build` first, `npm test` does both.
const out = process.env.HOLDFAST_TEST_OUT ?? 'dist'

export default {
  files: [`${out}/test/**/*.test.js`],
  workerThreads: false,
  concurrency: 2,
  timeout: '2m',
  nodeArguments: ['--enable-source-maps', '--disallow-code-generation-from-strings']
}

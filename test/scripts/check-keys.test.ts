import test from 'ava'
import { checkKeys } from '../../scripts/check-keys.ts'
import { topFolders } from '../../scripts/layer-table.ts'
import { readTree } from '../../scripts/project-files.ts'

const tree = readTree(process.cwd(), topFolders, /\.tsx?$/)
/** What the check says of the tree with one file more, or another. */
const problemsWith = (path: string, text: string): readonly string[] =>
  checkKeys(new Map([...tree, [path, text]]))
const textOf = (path: string): string => tree.get(path) ?? ''

test('every use of a key in the kernel is in the table', t => {
  t.deepEqual(checkKeys(tree), [])
})

test('a new place that reads a secret, opens wallet keys or bypasses the gate is found', t => {
  const leaks: readonly [code: string, problem: RegExp][] = [
    ['const words = info.keys.use(keys => keys)', /reads a secret/],
    ['const text = pin?.use(text => text)', /reads a secret/],
    ['const keys = openKeys(info.keys, pass)', /opens wallet keys; use the gate/],
    ["openWalletInfo(info, exemptPass('open'))", /without asking a policy/],
    ['const pass = {} as KeyPass', /makes a pass of its own/],
    ['await hooks.beforeSign.promise(spend)', /past the gate/],
    ['login.rootLoginKeyBase58()', /shows the login key/],
    ['sealLobbyReply(io, request, answer)', /hands keys to another device/]
  ]
  for (const [code, problem] of leaks)
    t.true(
      problemsWith('kernel/wallet/leak.ts', code).some(line => problem.test(line)),
      code
    )
  t.deepEqual(problemsWith('kernel/wallet/leak.ts', '// info.keys.use(keys => keys)'), [])
})

test('an extra use in a file of the table, a missing policy call, and an unneeded row are found', t => {
  const dump = 'kernel/wallet/dump-wallet.ts'
  t.regex(
    problemsWith(dump, `${textOf(dump)}\nparts.keys.use(keys => keys)`).join(),
    /in 2 places instead of 1/
  )
  t.regex(problemsWith(dump, '').join(), /needs no row/)
  const message = 'kernel/wallet/wallet.ts'
  t.regex(problemsWith(message, '').join(), /does not ask policies/)
})

import test from 'ava'
import { checkGrain } from '../../scripts/check-grain.ts'

const lines = (count: number): string => 'export const a = 1\n// A comment.\n\n'.repeat(count)

test('a small file with one user is found, unless it is an entry, has a second user or is one of a kind', t => {
  const user = (...paths: readonly string[]): string =>
    paths.map(path => `import '${path}'\n`).join('') + lines(40)
  const files = {
    'kernel/a/user.ts': user('./small.ts', './large.ts', './shared.ts', '../../plugins/rates/source.ts'),
    'kernel/a/other.ts': user('./shared.ts', './user.ts'),
    'kernel/a/small.ts': lines(39),
    'kernel/a/large.ts': lines(40),
    'kernel/a/shared.ts': lines(1),
    'kernel/a/entry.ts': lines(1),
    'plugins/rates/source.ts': lines(1)
  }
  t.deepEqual(checkGrain(new Map(Object.entries(files))), [
    'kernel/a/small.ts: has 39 code lines and only kernel/a/user.ts uses it; move its content there'
  ])
})

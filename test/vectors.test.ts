import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { checks, pendingGroups } from './vectors/checks/table.ts'
import { readVectorFile } from './vectors/vector.ts'

const countOf = (group: string): number => readVectorFile(group).vectors.length

const passed = new Map<string, number>()

for (const [group, check] of checks) {
  test.serial(`${group}: ${countOf(group)} vectors`, async t => {
    const file = readVectorFile(group)
    t.is(file.group, group)
    await check(t, file.vectors)
    if (t.passed) passed.set(group, file.vectors.length)
  })
}

test.serial('124 vectors of the groups of this path pass, and the rest is pending by name', t => {
  const files = readdirSync(join(process.cwd(), 'test', 'vectors'))
    .filter(name => name.endsWith('.json'))
    .map(name => name.slice(0, -'.json'.length))
  const path = files.filter(group => !pendingGroups.includes(group))
  t.deepEqual(
    path.filter(group => !passed.has(group)),
    [],
    'groups of this path without a check that passes'
  )
  t.is(
    [...passed.values()].reduce((sum, count) => sum + count, 0),
    124
  )

  for (const group of pendingGroups) t.log(`pending: ${group}, ${countOf(group)} vectors`)
  t.is(
    pendingGroups.reduce((sum, group) => sum + countOf(group), 0),
    79
  )
})

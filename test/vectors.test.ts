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

test.serial('each of the 203 vectors is in a group that passes or is pending by name', t => {
  const files = readdirSync(join(process.cwd(), 'test', 'vectors'))
    .filter(name => name.endsWith('.json'))
    .map(name => name.slice(0, -'.json'.length))
  t.deepEqual([...passed.keys(), ...pendingGroups].sort(), files.sort())
  t.is(
    files.reduce((sum, group) => sum + countOf(group), 0),
    203
  )
  for (const group of pendingGroups) t.log(`pending: ${group}, ${countOf(group)} vectors`)
})

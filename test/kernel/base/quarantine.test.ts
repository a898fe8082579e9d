import test from 'ava'
import { quarantine } from '../../../kernel/base/quarantine.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'

test('each damaged text of a path is kept once, and no kept text is ever replaced', async t => {
  const files = new Map<string, string>()
  const [disk, clock] = [makeFaultDisk(files), makeFakeClock()]
  const keep = async (text: string): Promise<string | undefined> => {
    const { details } = await quarantine(disk, clock, { path: 'a/b.json', text, rule: 'it is torn' })
    return details.keptAs
  }
  const first = await keep('one')
  t.is(await keep('one'), first)
  const second = await keep('two')
  t.not(second, first)
  await clock.advance(1000)
  t.is(await keep('one'), first)
  t.is(await keep('two'), second)
  t.deepEqual([...files.values()].sort(), ['one', 'two'])
  t.true([...files.keys()].every(path => path.startsWith('quarantine/a+b.json.')))
})

test('a storage that has a text at every path fails, and does not search for a free name forever', async t => {
  const disk = { ...makeFaultDisk(new Map()), getText: async () => 'taken', list: async () => [] }
  const damaged = { path: 'a.json', text: 'one', rule: 'it is torn' }
  await t.throwsAsync(quarantine(disk, makeFakeClock(), damaged), {
    code: 'STORAGE_FAILED',
    message: 'The disk failed: every name is taken'
  })
})

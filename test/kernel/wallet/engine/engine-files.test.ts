import test from 'ava'
import type { EngineFiles, JsonObject } from '../../../../kernel/index.ts'
import { openToyHome, type ToyHome } from '../../../helpers/toy-home.ts'

const BYTES = Uint8Array.from({ length: 300 }, (_, at) => at % 256)

const filesOf = (home: ToyHome, name: 'localFiles' | 'syncedFiles'): EngineFiles => {
  const files = home.toy.requests.at(-1)?.[name]
  if (files === undefined) throw new Error('There is no engine')
  return files
}

for (const name of ['localFiles', 'syncedFiles'] as const)
  test(`an engine keeps texts and bytes in ${name}, and finds them at the next login`, async t => {
    const home = await openToyHome(t)
    const { id } = await home.account.createCurrencyWallet('wallet:toycoin')
    await home.clock.advance(100)
    const files = filesOf(home, name)
    t.deepEqual(await files.list(''), [])
    t.is(await files.getText('a/b'), undefined)
    await files.setText('a/b', 'text ✓')
    await files.setData('a/c', BYTES)
    await files.setText('gone', '')
    t.is(await files.getText('gone'), '')
    await files.delete('gone')
    await files.delete('gone')
    t.deepEqual(await files.list(''), ['a/b', 'a/c'])
    t.deepEqual(await files.list('a'), ['a/b', 'a/c'])
    t.deepEqual(await files.list('b'), [])
    t.is(await files.getText('a/b'), 'text ✓')
    t.deepEqual(await files.getData('a/c'), BYTES)
    t.is(await files.getData('a/b'), undefined)
    t.is(await files.getText('a/c'), undefined)
    await files.setData('a/b', new Uint8Array())
    t.deepEqual(await files.getData('a/b'), new Uint8Array())
    for (const path of ['', '../a', 'a//b', 'ä'])
      await t.throwsAsync(files.setText(path, ''), { code: 'PATH_REFUSED' })
    await t.throwsAsync(files.setText('a', 7 as never), { instanceOf: TypeError })
    await home.account.sync()
    await home.account.logout()
    const account = await home.kernel.context.loginWithPassword('tess', 'Correct horse 1')
    await account.openWallet(id)
    await home.clock.advance(100)
    t.deepEqual(await filesOf(home, name).getData('a/c'), BYTES)
    await t.throwsAsync(files.setText('late', ''), undefined)
  })

test('synced files reach the engine of another device, which is notified, and local ones do not', async t => {
  const notices: string[] = []
  const home = await openToyHome(t)
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
  await home.account.sync()
  const other = await home.another({
    engine: () => ({ syncedFilesChanged: async () => void notices.push('changed') })
  })
  const twin = await other.account.openWallet(wallet.id)
  await home.clock.advance(100)
  const { localFiles, syncedFiles } = home.toy.requests.at(-1) as NonNullable<(typeof home.toy.requests)[0]>
  await syncedFiles.setText('channels/first', 'open')
  await syncedFiles.setData('proof', BYTES)
  await localFiles.setText('here', 'only')
  await wallet.sync()
  await twin.sync()
  await home.clock.advance(100)
  t.deepEqual(notices, ['changed'])
  t.deepEqual(await filesOf(other, 'syncedFiles').list(''), ['channels/first', 'proof'])
  t.is(await filesOf(other, 'syncedFiles').getText('channels/first'), 'open')
  t.deepEqual(await filesOf(other, 'syncedFiles').getData('proof'), BYTES)
  t.deepEqual(await filesOf(other, 'localFiles').list(''), [])
  // No server sees a path.
  const kept = JSON.stringify([...home.world.server.traffic.lines])
  t.false(kept.includes('channels'))
})

test('an engine that keeps more than its quota is refused, and what it had stays', async t => {
  const home = await openToyHome(t)
  await home.account.createCurrencyWallet('wallet:toycoin')
  await home.clock.advance(100)
  for (const [name, most, count] of [
    ['localFiles', 2_000_000, 1000],
    ['syncedFiles', 200_000, 100]
  ] as const) {
    const files = filesOf(home, name)
    await files.setText('small', 'kept')
    await t.throwsAsync(files.setText('large', 'x'.repeat(most)), { code: 'QUOTA_EXCEEDED' })
    await t.throwsAsync(files.setData('large', new Uint8Array(most)), { code: 'QUOTA_EXCEEDED' })
    for (let at = 1; at < count; at += 1) await files.setText(`many/${at}`, '')
    await t.throwsAsync(files.setText('one-more', ''), { code: 'QUOTA_EXCEEDED' })
    t.is(await files.getText('small'), 'kept')
  }
})

test('the settings of a currency hold until the user has others, name by name', async t => {
  const changes: JsonObject[] = []
  const home = await openToyHome(t, {
    info: { defaultSettings: { server: 'ours', gap: 20 } },
    engine: () => ({ changeUserSettings: async settings => void changes.push(settings) })
  })
  const config = home.account.currencyConfig('toycoin')
  await home.account.createCurrencyWallet('wallet:toycoin')
  await home.clock.advance(100)
  t.deepEqual(home.toy.requests[0]?.userSettings, { server: 'ours', gap: 20 })
  t.deepEqual(config.getSnapshot().userSettings, {})
  await config.changeUserSettings({ server: 'mine' })
  await home.clock.advance(100)
  t.deepEqual(changes, [{ server: 'mine', gap: 20 }])
})

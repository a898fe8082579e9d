import test from 'ava'
import { makeDevtools } from '../../../devtools/core/devtools.ts'
import { makeKernelClient } from '../../../devtools/core/kernel-client.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openStage, PASSWORD } from '../../helpers/action-stage.ts'
import { openDevice } from '../../helpers/device.ts'

test('an account of this device is moved to the login server by its password, and by no other', async t => {
  const { kernel, runAction, world } = await openStage(t)
  const { context } = kernel
  const account = await context.createAccount({
    ...{ username: 'hermit', password: PASSWORD, isDeviceOnly: true }
  })
  const input = { accountId: account.id, password: PASSWORD }
  const wrong = await t.throwsAsync(runAction('account.move', { ...input, password: 'hunter2' }), {
    code: 'PASSWORD'
  })
  t.false(wrong?.message.includes('hunter2'))
  await t.throwsAsync(runAction('account.move', { ...input, accountId: 'nowhere' }))
  t.true(account.location.isDeviceOnly)
  t.deepEqual(await runAction('account.move', input), {})
  t.false(account.location.isDeviceOnly)
  const other = await openDevice(world)
  t.is((await other.context.loginWithPassword('hermit', PASSWORD)).id, account.id)
  await other.close()
})

test('a client of a kernel in the page makes and restores backups, and one that only looks does neither', async t => {
  const { world } = await openStage(t)
  const { clock } = makeNodeIo()
  const phone = await openDevice(world, { plugins: [makeDevtools({ clock }).plugin] })
  const tablet = await openDevice(world, { plugins: [makeDevtools({ clock }).plugin] })
  t.teardown(() => Promise.all([phone.close(), tablet.close()]))
  const account = await phone.context.createAccount({
    ...{ username: 'hermit', password: PASSWORD, isDeviceOnly: true }
  })
  const [maker, restorer] = [makeKernelClient(phone), makeKernelClient(tablet)]
  const backup = (await maker.backups?.make(account.id)) ?? ''
  await t.throwsAsync(async () => maker.backups?.make('nowhere'), { code: 'LOGGED_OUT' })
  await t.throwsAsync(async () => restorer.backups?.restore(backup, 'hunter2'), { code: 'PASSWORD' })
  t.deepEqual(await restorer.backups?.restore(backup, PASSWORD), { username: 'hermit' })
  t.is((await tablet.context.loginWithPassword('hermit', PASSWORD)).id, account.id)
  t.is(makeKernelClient(phone, { isReadOnly: true }).backups, undefined)
})

test('a panel learns that its kernel has no login server', async t => {
  const { world } = await openStage(t)
  const plugins = [makeDevtools({ clock: makeNodeIo().clock }).plugin]
  const without = { authServer: null, apiKey: undefined as never, syncServers: [], infoServers: [] }
  for (const [options, expected] of [
    [{ plugins }, undefined],
    [{ plugins: [makeDevtools({ clock: makeNodeIo().clock }).plugin], ...without }, false]
  ] as const) {
    const kernel = await openDevice(world, options)
    const client = makeKernelClient(kernel)
    const status = await new Promise<ReturnType<typeof client.status.getSnapshot>>(resolve => {
      const look = (): void => {
        const now = client.status.getSnapshot()
        if (now.connection === 'live') resolve(now)
      }
      client.status.subscribe(look)
      look()
    })
    t.is(status.hasLoginServer, expected)
    client.close()
    await kernel.close()
  }
})

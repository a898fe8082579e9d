import { inspect } from 'node:util'
import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { isWalletError, type Kernel, type WalletError } from '../../../kernel/index.ts'
import type { FetchOptions, Io } from '../../../kernel/io/io.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openDevice } from '../../helpers/device.ts'

const io = makeNodeIo()
const ALICE = { username: 'alice', password: 'correct horse 9', pin: '4711' }

/** Every text that a program gets that prints a value without thinking: as JSON, inspected, copied, or by its names. */
const printed = (value: unknown): string => {
  const copy = typeof value === 'object' && value !== null ? { ...value } : value
  const stack = value instanceof Error ? value.stack : ''
  const options = { depth: 30, getters: true, maxStringLength: null, maxArrayLength: null }
  return [
    JSON.stringify(value),
    inspect(value, options),
    inspect(value, { ...options, showHidden: true, getters: false }),
    JSON.stringify(copy),
    String(value),
    stack
  ].join('\n')
}

/** What the stash of the one user of a device holds in the clear. */
const clearSecrets = (files: ReadonlyMap<string, string>): string[] => {
  const text = [...files].find(([path]) => path.startsWith('logins/'))?.[1] ?? '{}'
  const { pin2Key, recovery2Key, otpKey, voucherAuth } = JSON.parse(text)
  return [pin2Key, recovery2Key, otpKey, voucherAuth].filter(secret => secret !== undefined)
}

const refusalOf = async (login: Promise<unknown>): Promise<WalletError<'OTP'>> => {
  try {
    await login
  } catch (error) {
    if (isWalletError(error, 'OTP')) return error
    throw error
  }
  throw new Error('It was let in')
}

test('printing a context, its users or an account shows no recovery key, which a call still returns', async t => {
  const world = makeFakeWorld({ io })
  const files = new Map<string, string>()
  const kernel: Kernel = await openDevice(world, { storage: memoryStorage(files) })
  const { context } = kernel
  const account = await context.createAccount(ALICE)
  const recoveryKey = await account.credentials.changeRecovery(['Colour?', 'Tree?'], ['red', 'oak'])
  await account.twoFactor.enableOtp()
  const secrets = [recoveryKey, await account.getLoginKey(), ...clearSecrets(files)]
  t.is(secrets.length, 5)
  const [user] = context.localUsers
  const shown = [kernel, context, context.localUsers, user, context.getSnapshot(), account]
  for (const text of [...shown, account.credentials, account.twoFactor, account.getSnapshot()].map(printed)) {
    for (const secret of secrets) t.false(text.includes(secret))
  }
  t.is(user?.recovery2Key, recoveryKey)
  t.true('recovery2Key' in (user ?? {}))
  t.deepEqual(JSON.parse(JSON.stringify(user)).username, 'alice')
  await kernel.close()
  await world.close()
})

test('printing an OTP error shows no voucher auth and no reset token, which its fields still hold', async t => {
  const world = makeFakeWorld({ io })
  const home = await openDevice(world, {})
  const account = await home.context.createAccount(ALICE)
  await account.twoFactor.enableOtp()
  const files = new Map<string, string>()
  const guest = await openDevice(world, { storage: memoryStorage(files) })
  const refusal = await refusalOf(guest.context.loginWithPassword(ALICE.username, ALICE.password))
  const { voucherAuth = '', resetToken = '', voucherId } = refusal.details
  t.deepEqual(clearSecrets(files), [voucherAuth])
  t.is(resetToken, 'Super secret reset token')
  for (const text of [refusal, refusal.details, { ...refusal.details }].map(printed)) {
    t.false(text.includes(voucherAuth))
    t.false(text.includes(resetToken))
    t.true(text.includes(voucherId ?? '?'), 'what is shown to the device that approves')
  }
  await guest.close()
  await home.close()
  await world.close()
})

test('an error that a platform throws for a request is not kept as the cause', async t => {
  const world = makeFakeWorld({ io })
  const sent: string[] = []
  /** As the errors of some HTTP libraries do. */
  const careless = (url: string, options: FetchOptions = {}): never => {
    sent.push(options.body ?? '')
    const inner = Object.assign(new Error(`connect ECONNREFUSED ${options.body}`), { code: 'ECONNREFUSED' })
    throw Object.assign(new TypeError(`${url} ${options.body}`, { cause: inner }), {
      config: { url, ...options },
      code: options.body,
      name: options.body
    })
  }
  let isBroken = false
  const broken: Io = {
    ...world.ioFor(io),
    fetch: async (url, options) => (isBroken ? careless(url, options) : world.ioFor(io).fetch(url, options))
  }
  const reports: unknown[] = []
  const kernel = await openDevice(world, { io: broken, onError: (_, error) => void reports.push(error) })
  const account = await kernel.context.createAccount(ALICE)
  isBroken = true
  const calls = [
    () => kernel.context.loginWithPIN({ username: 'alice' }, '4711'),
    () => kernel.context.loginWithPassword('bob', 'battery staple'),
    () => account.credentials.changePIN({ pin: '1234' }),
    () => account.sync(),
    () => kernel.context.usernameAvailable('carol'),
    () => kernel.context.requestEdgeLogin()
  ]
  for (const call of calls) {
    const error = await t.throwsAsync<Error>(call)
    const text = printed(error)
    for (const body of sent) if (body !== '') t.false(text.includes(body), text)
    for (const name of ['loginAuth', 'pin2Auth', 'passwordAuth']) t.false(text.includes(name), name)
    if (!isWalletError(error, 'NETWORK')) continue
    t.regex(inspect(error.cause), /ECONNREFUSED/, 'why it failed is still told')
  }
  t.true(sent.some(body => body.includes('pin2Auth')))
  isBroken = false
  for (const text of reports.map(printed))
    for (const name of ['Auth', 'recovery2']) t.false(text.includes(name))
  await kernel.close()
  await world.close()
})

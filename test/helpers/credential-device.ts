import type { Account, Kernel, Plugin } from '../../kernel/index.ts'
import { isWalletError } from '../../kernel/index.ts'
import type { FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import type { CredentialAction, RequestFate } from './credential-actions.ts'
import { PASSWORDS } from './credential-actions.ts'
import type { CredentialWorld } from './credential-world.ts'
import { settle } from './credential-world.ts'
import { openDevice } from './device.ts'

// biome-ignore lint/suspicious/noExplicitAny: requests of many shapes, read by tests only
type Untyped = any

/** A request that asked for a change, as the server got it. */
export interface RequestedChange {
  readonly device: CredentialDevice
  readonly action: CredentialAction
  /** Such as `POST /v2/login/pin2`. */
  readonly route: string
  readonly body: Untyped
  /** What the device believed when it asked. */
  readonly username: string
  readonly pin: string | undefined
  readonly password: string | undefined
  /** The account had that name no longer, and that for more than a minute. */
  readonly isNameOld: boolean
  readonly fate: RequestFate['kind']
  /** How many of the changes that the server made the device knew of. */
  readonly received: number
  /** Milliseconds. */
  readonly requestedAt: number
}

/** A change that the server made. */
export interface MadeChange extends RequestedChange {
  /** Milliseconds. */
  readonly madeAt: number
}

/** What all devices of a run share. */
export interface CredentialNet {
  readonly place: CredentialWorld
  /** Base64. */
  readonly rootId: string
  /** The changes that the server made, in order. */
  readonly made: MadeChange[]
  /** The usernames of the account, and since when each; milliseconds. */
  readonly names: { readonly name: string; readonly since: number }[]
  /** Actions whose calls succeeded. */
  readonly acknowledged: Set<CredentialAction>
  /** Requests on their way that their devices gave up. */
  late: { rounds: number; deliver(): Promise<void> }[]
}

/** One device: its files, and the kernel that runs over them now. */
export class CredentialDevice {
  readonly net: CredentialNet
  readonly files: Map<string, string>
  readonly reports: unknown[] = []
  readonly appId: string
  readonly #loginKey: string
  #kernel: Kernel | undefined
  #account: Account | undefined
  #fates: RequestFate[] = []
  action: CredentialAction = { kind: 'nothing' }
  password: string | undefined
  /** How many of the changes that the server made this device knows of. */
  #received = 0

  constructor(net: CredentialNet, saved: SavedDevice) {
    this.net = net
    this.files = new Map(saved.files)
    this.appId = saved.appId
    this.#loginKey = saved.loginKey
  }

  get kernel(): Kernel {
    if (this.#kernel === undefined) throw new Error('The device is off')
    return this.#kernel
  }

  get account(): Account {
    if (this.#account === undefined) throw new Error('No account is logged in')
    return this.#account
  }

  get pin(): string | undefined {
    const { credentials } = this.account
    return credentials.hasPin ? credentials.getPIN() : undefined
  }

  /** The file that holds the login. */
  get stashPath(): string {
    const path = [...this.files.keys()].find(name => name.startsWith('logins/'))
    if (path === undefined) throw new Error('The device knows nobody')
    return path
  }

  /** What the file holds. */
  get stash(): LoginStash {
    return JSON.parse(this.files.get(this.stashPath) ?? '')
  }

  /** Starts the kernel, nobody logged in. */
  async start(): Promise<void> {
    this.#kernel = await openDevice(this.net.place.world, {
      io: this.#io(),
      appId: this.appId,
      storage: memoryStorage(this.files) as Plugin,
      onError: (_, error) => void this.reports.push(error)
    })
  }

  /** Logs in by what needs no server. */
  async logInByKey(): Promise<void> {
    this.#account = await this.kernel.context.loginWithKey(this.user, this.#loginKey)
  }

  async stop(): Promise<void> {
    await this.kernel.close()
    this.#kernel = undefined
    this.#account = undefined
  }

  get user(): { readonly loginId: string } {
    const [user] = this.kernel.context.localUsers
    if (user === undefined) throw new Error('The device knows nobody')
    return { loginId: user.loginId }
  }

  /** Does what somebody does on this device. */
  async runAction(action: CredentialAction, fates: readonly RequestFate[]): Promise<void> {
    this.action = action
    this.password = await this.#believedPassword()
    this.#fates = [...fates]
    await this.#perform(action)
  }

  /** From now on the network is honest. */
  makeHonest(): void {
    this.#fates = []
    this.action = { kind: 'nothing' }
  }

  async #perform(action: CredentialAction): Promise<void> {
    const { credentials, twoFactor } = this.account
    switch (action.kind) {
      case 'change password':
        return credentials.changePassword(action.password)
      case 'delete password':
        return credentials.deletePassword()
      case 'change pin':
        return credentials.changePIN(action)
      case 'delete pin':
        return credentials.deletePIN()
      case 'change recovery':
        return void (await credentials.changeRecovery(['Which colour?'], [action.answer]))
      case 'delete recovery':
        return credentials.deleteRecovery()
      case 'enable otp':
        return twoFactor.enableOtp()
      case 'disable otp':
        return twoFactor.disableOtp()
      case 'change username': {
        const { password } = this
        return credentials.changeUsername({
          username: action.username,
          ...(password === undefined ? {} : { password })
        })
      }
      case 'refresh':
        return this.account.sync()
      case 'restart':
        return this.#restart(action.by)
      case 'nothing':
    }
  }

  async #restart(by: 'password' | 'pin' | 'key'): Promise<void> {
    const { username = '' } = this.account
    const { password, pin } = this
    await this.stop()
    await this.start()
    const { context } = this.kernel
    try {
      if (by === 'password' && password !== undefined)
        this.#account = await context.loginWithPassword(username, password)
      if (by === 'pin' && pin !== undefined) this.#account = await context.loginWithPIN(this.user, pin)
    } catch (error) {
      if (!isWalletError(error)) throw error
    }
    if (this.#account === undefined) await this.logInByKey()
  }

  async #believedPassword(): Promise<string | undefined> {
    const { credentials } = this.account
    for (const password of PASSWORDS) if (await credentials.checkPassword(password)) return password
    return undefined
  }

  #io(): Io {
    const io = this.net.place.makeIo()
    return {
      ...io,
      fetch: (url, options = {}) => {
        const isLogin = /\/api\/v2\/(?:login|sync)/.test(url)
        return isLogin ? this.#query(io.fetch, url, options) : io.fetch(url, options)
      }
    }
  }

  async #query(fetch: Io['fetch'], url: string, options: FetchOptions): Promise<FetchReply> {
    const { signal: _, ...rest } = options
    const fate = this.#fates.shift() ?? SERVED
    const requested = this.#requestedChange(url, rest, fate)
    let reported: number | undefined
    const deliver = async (): Promise<FetchReply> => {
      const reply = await fetch(url, rest)
      const { status_code: code, results } = JSON.parse(reply.text)
      if (code === 0 && requested !== undefined) this.#noteMade(requested)
      if (code === 0 && (url.endsWith('/login') || results === true)) reported ??= this.net.made.length
      return reply
    }
    const reply = await this.#meet(fate, deliver)
    this.#received = Math.max(this.#received, reported ?? 0)
    return reply
  }

  async #meet(fate: RequestFate, deliver: () => Promise<FetchReply>): Promise<FetchReply> {
    switch (fate.kind) {
      case 'served':
        return deliver()
      case 'unseen':
        throw new Error('The request was lost')
      case 'reply lost':
        await deliver()
        throw new Error('The reply was lost')
      case 'twice': {
        const reply = await deliver()
        await deliver()
        return reply
      }
      case 'late':
        this.net.late.push({ rounds: fate.rounds, deliver: async () => void (await deliver()) })
        throw new Error('There is no reply yet')
      case 'slow request':
        await settle(fate.mutex)
        return deliver()
      case 'slow reply': {
        const reply = await deliver()
        await settle(fate.mutex)
        return reply
      }
    }
  }

  #requestedChange(
    url: string,
    { method = 'GET', body = '' }: FetchOptions,
    { kind: fate }: RequestFate
  ): RequestedChange | undefined {
    const path = url.slice(url.indexOf('/v2/'))
    if (!/^\/v2\/login\/(?:password|pin2|recovery2|otp|username)$/.test(path)) return undefined
    const { action, account, pin, password } = this
    const username = account.username ?? ''
    const isNameOld = this.#isNameOld(username)
    const requestedAt = this.net.place.clock.now()
    const believed = { username, pin, password, isNameOld, received: this.#received, requestedAt }
    return { device: this, action, route: `${method} ${path}`, body: JSON.parse(body), ...believed, fate }
  }

  #noteMade(requested: RequestedChange): void {
    const { made, names, place } = this.net
    made.push({ ...requested, madeAt: place.clock.now() })
    const { action, route, body } = requested
    if (action.kind !== 'change username' || route !== RENAME || body.data.userId === undefined) return
    names.push({ name: action.username, since: place.clock.now() })
  }

  #isNameOld(username: string): boolean {
    const { names, place } = this.net
    const limit = place.clock.now() - 60_000
    return !names.some(({ name }, index) => {
      const next = names[index + 1]
      return name === username && (next === undefined || next.since >= limit)
    })
  }
}

const SERVED: RequestFate = { kind: 'served' }
const RENAME = 'POST /v2/login/username'

/** A device that is switched off. */
export interface SavedDevice {
  readonly appId: string
  readonly loginKey: string
  readonly files: ReadonlyMap<string, string>
}

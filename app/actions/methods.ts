import { compact, type Json, type JsonObject, parseJsonText, WalletError } from '../../kernel/index.ts'
import type { DeclarationsOf } from './declaration.ts'
import { about, inputError, list, object, optional, patterned, text, untrusted } from './schema.ts'
import { walletOf } from './services.ts'
import { type WalletRef, walletId, walletRef } from './spend-review.ts'

interface MethodRow {
  readonly name: string
  readonly untrusted: {
    readonly description: string
    /** The schemas, as JSON. */
    readonly arguments: string
    readonly result: string
  }
}

interface MethodCall extends WalletRef {
  readonly name: string
  /** An object, as JSON. */
  readonly args?: string
}

/** Actions about the methods that only one currency has. */
export interface MethodActions {
  readonly 'wallet.methods': {
    readonly in: WalletRef
    readonly out: { readonly methods: readonly MethodRow[] }
  }
  readonly 'wallet.call': {
    readonly in: MethodCall
    readonly out: { readonly untrusted: { readonly result: string } }
  }
}

const NO_PANEL = 'each currency has others, with arguments of any shape: an application gives them a form'
const NO_PROGRAM = 'the plugin alone says what a method does, and whether it changes anything'
const methodName = patterned('^[A-Za-z][A-Za-z0-9]{0,63}$', 'the name of a method')
// The most that a plugin may declare or answer; as ASCII, a character can take six.
const [MAX_SCHEMA, MAX_RESULT, MAX_ARGS] = [200_000, 6_100_000, 1_000_000]

/** Lists and calls the methods that a currency declares besides those of every currency. */
export const methodActions: DeclarationsOf<MethodActions> = {
  'wallet.methods': {
    title: 'List the methods of a wallet',
    summary: 'Lists what only the currency of a wallet can do, with the schemas of arguments and results.',
    effect: 'reads',
    input: walletRef,
    output: object<MethodActions['wallet.methods']['out']>({
      methods: list(
        object<MethodRow>({
          name: methodName,
          untrusted: object<MethodRow['untrusted']>({
            description: untrusted(1000),
            arguments: about(untrusted(MAX_SCHEMA), 'A schema, as JSON'),
            result: about(untrusted(MAX_SCHEMA), 'A schema, as JSON')
          })
        }),
        1000
      )
    }),
    async run(services, { walletId: wanted }) {
      const { wallet } = await walletOf(services, wanted)
      const methods = Object.entries(wallet.currencyInfo.otherMethods ?? {})
      return {
        methods: methods.map(([name, { description, arguments: args, result }]) => ({
          name,
          untrusted: { description, arguments: JSON.stringify(args), result: JSON.stringify(result) }
        }))
      }
    },
    commandLine: ({ walletId: wanted }, names) => {
      const { word, account } = names.walletOf(wanted)
      return { words: ['wallets', 'methods', word], flags: { account } }
    },
    faces: { cli: 'wallets methods', panel: { none: NO_PANEL }, mcp: { none: NO_PROGRAM } }
  },
  'wallet.call': {
    title: 'Call a method of a wallet',
    summary: 'Calls a method that only the currency of a wallet has; it gets no keys.',
    effect: 'changes',
    input: object<MethodCall>({
      walletId,
      name: methodName,
      args: optional(about(text(MAX_ARGS), 'Its arguments by name: a JSON object'))
    }),
    output: object<MethodActions['wallet.call']['out']>({
      untrusted: object({ result: about(untrusted(MAX_RESULT), 'The result as JSON, in ASCII') })
    }),
    async run(services, { walletId: wanted, name, args = '{}' }) {
      const { wallet } = await walletOf(services, wanted)
      const { otherMethods } = wallet
      const call = Object.hasOwn(otherMethods, name) ? otherMethods[name] : undefined
      if (call === undefined) throw new WalletError('NOT_SUPPORTED', { what: name })
      return { untrusted: { result: asciiJson(await call(argumentsIn(args))) } }
    },
    commandLine: ({ walletId: wanted, name, args }, names) => {
      const { word, account } = names.walletOf(wanted)
      return { words: ['wallets', 'methods', word, name], flags: compact({ args, account }) }
    },
    faces: { cli: 'wallets methods', panel: { none: NO_PANEL }, mcp: { none: NO_PROGRAM } }
  }
}

const argumentsIn = (json: string): JsonObject => {
  const wrong = inputError('args', 'must be a JSON object')
  let value: unknown
  try {
    value = parseJsonText(json)
  } catch {
    throw wrong
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong
  return value as JsonObject
}

/** JSON that stays what it is where invisible characters are escaped. */
const asciiJson = (value: Json): string =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )

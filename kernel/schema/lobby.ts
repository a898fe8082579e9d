import type { Schema } from 'yup'
import { isRecord } from '../base/json.ts'
import type { Box } from '../types/keys.ts'
import { bytes32 } from './login.ts'
import { box, type Leaf, leaf, objectOf, optional, optionalBox, optionalFinite, parse } from './shape.ts'

/** The most replies of one lobby that are looked at. */
const MAX_REPLIES = 1000

// The guards stand first: the schemas below are made while the module loads.
const isPublicKey = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9+/]{44}$/.test(value)

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= MAX_REPLIES

const isShortText = (value: unknown): value is string => typeof value === 'string' && value.length <= 1000

const isImage = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 2000 && /^https?:\/\//.test(value)

/** The request of a device in its lobby (specification §3 "Lobby request"). */
export interface LobbyRequest {
  readonly loginRequest?: { readonly appId: string }
  /** A payment for a second device of the account to approve; not part of the deployed protocol. */
  readonly paymentRequest?: Box
  /** Base64 of a compressed point. */
  readonly publicKey: string
  /** Seconds. */
  readonly timeout?: number
}

/** One answer to a lobby, for its maker's eyes only (specification §3 "Lobby reply"). */
export interface LobbyReply {
  /** Base64 of a compressed point. */
  readonly publicKey: string
  readonly box: Box
}

/** A lobby as the server shows it. Anybody can reply, so that replies are checked one by one. */
export interface LobbyContent {
  readonly request: LobbyRequest
  readonly replies: readonly unknown[]
}

/** The content of the box of an edge-login reply (protocol §2.7). The stash is unchecked. */
export interface EdgeLoginReply {
  readonly appId: string
  /** Base64, 32 bytes; of the login of that app. */
  readonly loginKey: string
  readonly loginStash: Record<string, unknown>
}

/** The info server's description of an app (specification §3 "App info"). */
export interface AppInfo {
  readonly appName: string
  readonly imageUrl?: string
  readonly lightImageUrl?: string
  readonly darkImageUrl?: string
}

/** Checks a lobby. @throws BAD_REPLY, also for more than 1000 replies */
export const parseLobby = (value: unknown): LobbyContent => parse(asLobby, value, 'lobby')

/** Checks one reply of a lobby. @throws BAD_REPLY */
export const parseLobbyReply = (value: unknown): LobbyReply => parse(asLobbyReply, value, 'lobby reply')

/** Checks what the box of a reply holds. @throws BAD_REPLY */
export const parseEdgeLoginReply = (value: unknown): EdgeLoginReply =>
  parse(asEdgeLoginReply, value, 'edge-login reply')

/** Checks what the info server says of an app. @throws BAD_REPLY */
export const parseAppInfo = (value: unknown): AppInfo => parse(asAppInfo, value, 'app info')

const publicKey = (): Leaf<string> => leaf('public key', isPublicKey)

const asLobby: Schema<LobbyContent> = objectOf<LobbyContent>({
  request: objectOf<LobbyRequest>({
    loginRequest: optional(
      'login request',
      (value): value is { appId: string } => isRecord(value) && isShortText(value.appId)
    ),
    paymentRequest: optionalBox(),
    publicKey: publicKey(),
    timeout: optionalFinite()
  } as never),
  replies: leaf('list', isList)
})

const asLobbyReply: Schema<LobbyReply> = objectOf<LobbyReply>({ publicKey: publicKey(), box: box() })

const asEdgeLoginReply: Schema<EdgeLoginReply> = objectOf<EdgeLoginReply>({
  appId: leaf('app id', isShortText),
  loginKey: bytes32(),
  loginStash: leaf('stash', isRecord)
})

const asAppInfo: Schema<AppInfo> = objectOf<AppInfo>({
  appName: leaf('short text', isShortText),
  imageUrl: optional('address', isImage),
  lightImageUrl: optional('address', isImage),
  darkImageUrl: optional('address', isImage)
} as never)

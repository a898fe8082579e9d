import { openJson, sealJson } from '../../../kernel/crypto/box.ts'
import { checkLobbyId, type LobbyKeys, lobbyBoxKeyOf, lobbyIdOf, makeLobbyKeys } from '../../../kernel/crypto/lobby-key.ts'
import { base64, eachVector, type GroupCheck, io } from './check.ts'

/** Both sides come to the same key, whose box the deployed system sealed. */
export const checkLobby: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const keysOf = (hex: string): LobbyKeys => makeLobbyKeys({ random: () => io.crypto.fromHex(hex) })
  const request = keysOf(inputs.requestPrivate_hex)
  const reply = keysOf(inputs.replyPrivate_hex)
  const key = lobbyBoxKeyOf(io, request.privateKey, reply.publicKey)
  t.is(base64(request.publicKey), outputs.requestPublic_base64, id)
  t.is(base64(reply.publicKey), outputs.replyPublic_base64, id)
  t.is(lobbyIdOf(io, request.publicKey), outputs.lobbyId, id)
  t.notThrows(() => checkLobbyId(io, outputs.lobbyId, request.publicKey), id)
  t.is(base64(key), outputs.boxKey_base64, id)
  t.deepEqual(lobbyBoxKeyOf(io, reply.privateKey, request.publicKey), key, id)
  t.is(outputs.reply.publicKey, outputs.replyPublic_base64, id)
  t.deepEqual(openJson(io, key, outputs.reply.box), outputs.replyJson, id)
  t.deepEqual(openJson(io, key, sealJson(io, key, outputs.replyJson)), outputs.replyJson, id)
})

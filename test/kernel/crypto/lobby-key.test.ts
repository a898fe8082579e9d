import test from 'ava'
import { base58Of } from '../../../kernel/crypto/encoding.ts'
import { checkLobbyId, lobbyBoxKeyOf, lobbyIdOf, makeLobbyKeys } from '../../../kernel/crypto/lobby-key.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()

test('a lobby id that is not the hash of the request, whole, is an integrity error [5.34] [8.65]', t => {
  const { publicKey } = makeLobbyKeys(io)
  const hash = io.crypto.sha256(io.crypto.sha256(publicKey))
  t.is(lobbyIdOf(io, publicKey), base58Of(hash.slice(0, 10)))
  t.notThrows(() => checkLobbyId(io, lobbyIdOf(io, publicKey), publicKey))
  const wrong = [
    base58Of(hash.slice(0, 9)),
    base58Of(hash.slice(0, 11)),
    '',
    'no base58: 0OIl',
    '1'.repeat(1000)
  ]
  for (const lobbyId of [...wrong, lobbyIdOf(io, makeLobbyKeys(io).publicKey)]) {
    const expected = { code: 'LOBBY_INTEGRITY', message: 'Lobby ECDH integrity error' }
    t.throws(() => checkLobbyId(io, lobbyId, publicKey), expected, lobbyId)
  }
})

test('both sides of a lobby come to one key, and a stranger to another', t => {
  const [request, reply, stranger] = [makeLobbyKeys(io), makeLobbyKeys(io), makeLobbyKeys(io)]
  const key = lobbyBoxKeyOf(io, request.privateKey, reply.publicKey)
  t.is(key.length, 32)
  t.deepEqual(lobbyBoxKeyOf(io, reply.privateKey, request.publicKey), key)
  t.notDeepEqual(lobbyBoxKeyOf(io, stranger.privateKey, request.publicKey), key)
})

test('bytes that are no point of the curve make no key', t => {
  const { privateKey } = makeLobbyKeys(io)
  for (const length of [0, 1, 32, 33, 65]) {
    const expected = { code: 'LOBBY_INTEGRITY' }
    t.throws(() => lobbyBoxKeyOf(io, privateKey, new Uint8Array(length)), expected, `${length}`)
  }
})

test('a draw that is no private key is drawn again', t => {
  // Of a longer draw more bytes would be taken.
  const draws = [0, 0xff, 1].map(byte => new Uint8Array(40).fill(byte))
  const { privateKey } = makeLobbyKeys({
    random: count => draws.shift()?.subarray(0, count) ?? new Uint8Array(0)
  })
  t.deepEqual(privateKey, new Uint8Array(32).fill(1))
})

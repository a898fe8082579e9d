import { X509Certificate } from 'node:crypto'
import test from 'ava'
import type { ChannelHandlers, Io } from '../../kernel/io/io.ts'
import { type CertificateStore, makeNodeIo, type PinnedCertificate } from '../../platform/node/index.ts'
import { waitFor } from '../helpers/device.ts'
import { selfSigned, serveTls, signedBy } from '../helpers/tls-certificates.ts'

const SILENT: ChannelHandlers = { onText: () => undefined, onClose: () => undefined }

const [first, second, expired] = [selfSigned(), selfSigned(), selfSigned('old', { isExpired: true })]
const fingerprintOf = ({ cert }: { readonly cert: string }): string =>
  new X509Certificate(cert).fingerprint256

/** A store that remembers in a map. */
const storeOf = (pinsAtFirstUse: boolean) => {
  const known = new Map<string, PinnedCertificate | 'authority'>()
  const store: CertificateStore = {
    pinsAtFirstUse,
    find: server => known.get(server),
    remember: (server, shown) => void known.set(server, shown)
  }
  return { known, store, io: makeNodeIo({ certificates: store }) }
}

const connect = async (io: Io, port: number): Promise<void> => {
  const channel = await io.connect?.({ host: '127.0.0.1', port, isTls: true }, SILENT)
  channel?.close()
}

test('a connection whose certificate cannot be remembered is ended', async t => {
  const { store } = storeOf(true)
  const server = await serveTls(t, first)
  const remember = (): never => {
    throw new Error('ENOSPC')
  }
  const io = makeNodeIo({ certificates: { ...store, remember } })
  await t.throwsAsync(connect(io, server.port), { message: /ENOSPC/ })
  await waitFor(async () => (await server.openCount()) === 0)
  t.deepEqual(server.received, [])
})

test('a self-signed certificate is pinned at its first use where the store says so, and used from then on', async t => {
  const { known, io, store } = storeOf(true)
  const server = await serveTls(t, first)
  await connect(io, server.port)
  const key = `127.0.0.1:${server.port}`
  const pinned = known.get(key)
  t.is((pinned as PinnedCertificate).fingerprint, fingerprintOf(first))
  await connect(makeNodeIo({ certificates: { ...store, pinsAtFirstUse: false } }), server.port)
  t.is(known.get(key), pinned)
})

test('of two first uses at once the second is compared with what the first has remembered', async t => {
  const { known, store } = storeOf(true)
  const server = await serveTls(t, first)
  const key = `127.0.0.1:${server.port}`
  const connectAfter = (remembered: PinnedCertificate | 'authority'): Promise<void> => {
    known.delete(key)
    // Another process was first.
    const remember = (): void => void known.set(key, remembered)
    return connect(makeNodeIo({ certificates: { ...store, remember } }), server.port)
  }
  const error = await t.throwsAsync(connectAfter({ fingerprint: fingerprintOf(second) }), {
    code: 'CERTIFICATE_REFUSED'
  })
  t.true(error?.message.includes(fingerprintOf(first)))
  t.true(error?.message.includes(fingerprintOf(second)))
  await t.throwsAsync(connectAfter('authority'), { code: 'CERTIFICATE_REFUSED' })
  await waitFor(async () => (await server.openCount()) === 0)
  t.deepEqual(server.received, [])
  await connectAfter({ fingerprint: fingerprintOf(first) })
})

test('a certificate that has changed is refused with both fingerprints, and nothing is sent to its server', async t => {
  const { io } = storeOf(true)
  const server = await serveTls(t, first)
  await connect(io, server.port)
  server.present(second)
  const error = await t.throwsAsync(connect(io, server.port), { code: 'CERTIFICATE_REFUSED' })
  t.true(error?.message.includes(fingerprintOf(first)))
  t.true(error?.message.includes(fingerprintOf(second)))
  t.deepEqual(server.received, [])
  server.present(first)
  await t.notThrowsAsync(connect(io, server.port))
})

test('a certificate that the pinned one has signed is another certificate', async t => {
  const { io } = storeOf(true)
  const server = await serveTls(t, first)
  await connect(io, server.port)
  server.present(signedBy(first, 'leaf'))
  const error = await t.throwsAsync(connect(io, server.port), { code: 'CERTIFICATE_REFUSED' })
  t.regex(error?.message ?? '', /has changed/)
  t.deepEqual(server.received, [])
})

test('without leave a self-signed certificate is refused with its fingerprint, and without a store by its name', async t => {
  const { io, known } = storeOf(false)
  const server = await serveTls(t, first)
  const error = await t.throwsAsync(connect(io, server.port), { code: 'CERTIFICATE_REFUSED' })
  t.true(error?.message.includes(fingerprintOf(first)))
  t.is(known.size, 0)
  const plain = await t.throwsAsync(connect(makeNodeIo(), server.port), { code: 'CERTIFICATE_REFUSED' })
  t.regex(plain?.message ?? '', /DEPTH_ZERO_SELF_SIGNED_CERT/)
  t.deepEqual(server.received, [])
})

test('an expired certificate, and one of an unknown authority, are refused by their names and not pinned', async t => {
  const { io, known } = storeOf(true)
  const server = await serveTls(t, expired)
  await t.throwsAsync(connect(io, server.port), { message: /CERT_HAS_EXPIRED/ })
  server.present(signedBy(second, 'leaf'))
  await t.throwsAsync(connect(io, server.port), {
    message: /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT/
  })
  t.is(known.size, 0)
  known.set(`127.0.0.1:${server.port}`, { fingerprint: fingerprintOf(expired), pem: expired.cert })
  server.present(expired)
  await t.throwsAsync(connect(io, server.port), { message: /CERT_HAS_EXPIRED/ })
  t.deepEqual(server.received, [])
})

test('a server that is written with its fingerprint has to show that certificate', async t => {
  const { io, known } = storeOf(false)
  const server = await serveTls(t, second)
  known.set(`127.0.0.1:${server.port}`, { fingerprint: fingerprintOf(first) })
  const error = await t.throwsAsync(connect(io, server.port), { code: 'CERTIFICATE_REFUSED' })
  t.regex(error?.message ?? '', /has changed/)
  server.present(first)
  await t.notThrowsAsync(connect(io, server.port))
})

test('a server that had a certificate of an authority may not become self-signed', async t => {
  const { io, known } = storeOf(true)
  const server = await serveTls(t, first)
  known.set(`127.0.0.1:${server.port}`, 'authority')
  await t.throwsAsync(connect(io, server.port), { message: /authority before/ })
  t.is(known.get(`127.0.0.1:${server.port}`), 'authority')
})

test('a WebSocket over TLS takes the pinned certificate, and requests take none', async t => {
  const { io, known } = storeOf(true)
  const server = await serveTls(t, first, socket => {
    socket.once('data', () => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'))
  })
  // The server speaks no WebSocket: it was written to, so the certificate had passed.
  await t.throwsAsync(async () => io.webSocket?.(`wss://127.0.0.1:${server.port}/`, SILENT))
  t.regex(server.received.join(''), /^GET \/ HTTP\/1.1/)
  t.is((known.get(`127.0.0.1:${server.port}`) as PinnedCertificate).fingerprint, fingerprintOf(first))
  const before = server.received.length
  await t.throwsAsync(io.fetch(`https://127.0.0.1:${server.port}/`), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  server.present(second)
  await t.throwsAsync(async () => io.webSocket?.(`wss://127.0.0.1:${server.port}/`, SILENT), {
    code: 'CERTIFICATE_REFUSED'
  })
  t.is(server.received.length, before)
})

export type { CertificateStore, PinnedCertificate } from './certificates.ts'
export { makeNodeIo, type NodeIoOptions } from './node-io.ts'
export type { SocksProxy } from './open-socket.ts'

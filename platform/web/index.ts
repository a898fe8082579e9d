export { makeWebIo, type WebIo, type WebIoOptions } from './web-io.ts'

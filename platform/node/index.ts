export { makeNodeIo, type NodeIoOptions } from './node-io.ts'

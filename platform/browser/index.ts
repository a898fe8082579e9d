export { type BrowserIo, type BrowserIoOptions, makeBrowserIo } from './browser-io.ts'

import { sections } from './sections.ts'

// One section in a process of its own: its name and the peer's folder are the arguments, the last line of the
// output is its result.

const [name, peerFolder] = process.argv.slice(2)
const section = sections.find(one => one.name === name)
if (section === undefined) throw new Error(`There is no section ${name}`)
const run = await section.load()
console.log(JSON.stringify(await run({ peerFolder })))
// The peer and servers may leave timers behind.
process.exit(0)

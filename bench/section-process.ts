import type { SectionContext } from './section.ts'
import { sections } from './sections.ts'

// One section in a process of its own: its name and its context are the arguments, the last line of the output is
// its result.

const [name, context = '{}'] = process.argv.slice(2)
const section = sections.find(one => one.name === name)
if (section === undefined) throw new Error(`No section is named ${name}`)
// The library's own timers keep no process alive, and a section without the peer may wait for nothing else.
setInterval(() => {}, 60_000)
const run = await section.load()
console.log(JSON.stringify(await run(JSON.parse(context) as SectionContext)))
// The peer and servers may leave timers behind.
process.exit(0)

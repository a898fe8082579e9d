import { doJob } from './do-job.ts'
import type { Job } from './job.ts'

// One job in a process of its own: the job is the argument, the last line of the output is what it came to.

const { steps, facts } = await doJob(JSON.parse(process.argv[2] ?? '') as Job)
const peakMb = process.resourceUsage().maxRSS / 1024
console.log(JSON.stringify({ steps, facts: { peakMb, ...facts } }))
// The peer leaves timers behind.
process.exit(0)

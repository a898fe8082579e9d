import { readFileSync } from 'node:fs'
import { doJob } from './do-job.ts'
import type { Job } from './job.ts'

// One job in a process of its own: the job is the argument, the last line of the output is what it came to.

/** The most memory that this process has had, in MB. */
const peakMbOf = (): number => {
  try {
    // The other figure is kept when a process becomes another program: it would be that of the bench, if that had more.
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes) / 1024
  } catch {
    // Only Linux has this file.
  }
  return process.resourceUsage().maxRSS / 1024
}

const { steps, facts } = await doJob(JSON.parse(process.argv[2] ?? '') as Job)
console.log(JSON.stringify({ steps, facts: { peakMb: peakMbOf(), ...facts } }))
// The peer leaves timers behind.
process.exit(0)

import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'

// A process to be killed: it writes without end and says each number once that number is durable.
const [root = ''] = process.argv.slice(2)
const disk = await openFileDisk(root, { holder: 'disk-writer' })
let count = 0
for (;;) {
  count += 1
  const text = JSON.stringify({ count, filler: String(count).repeat(20_000) })
  await Promise.all([disk.setText('logins/one.json', text), disk.setText(`many/${count % 20}.json`, text)])
  process.stdout.write(`${count}\n`)
}

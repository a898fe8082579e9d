import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const root = fileURLToPath(new URL('../../../', import.meta.url))

test('the panel uses the React of its application, from version 19 on, and bundles none', t => {
  const { dependencies, peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(
    readFileSync(`${root}package.json`, 'utf8')
  )
  // The bundler is for those who add plugins to the command line.
  const { rolldown, ...peers } = peerDependencies
  t.deepEqual(peers, { react: '>=19', 'react-dom': '>=19' })
  t.is(typeof rolldown, 'string')
  t.deepEqual(peerDependenciesMeta, { rolldown: { optional: true } })
  for (const name of ['react', 'react-dom']) {
    t.false(Object.hasOwn(dependencies, name), name)
    t.regex(devDependencies[name], /^\d+\.\d+\.\d+$/)
  }
})

test('the command bundles its own React, and needs none installed', t => {
  const bin = `${root}dist/bin`
  const files = readdirSync(bin, { recursive: true, encoding: 'utf8' }).filter(name => /\.m?js$/.test(name))
  t.true(files.length > 1)
  const pendingQuery = files.filter(name =>
    /\b(?:from|import|require)\s*\(?\s*["']react(?:-dom)?(?:\/[\w-]+)?["']/.test(
      readFileSync(`${bin}/${name}`, 'utf8')
    )
  )
  t.deepEqual(pendingQuery, [])
})

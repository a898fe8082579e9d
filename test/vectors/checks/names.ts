import { fileHashOf, localFolderOf, repoFolderOf, repoIdOf, stashPathOf, walletIdOf } from '../../../kernel/keys/ids.ts'
import { bytes, eachVector, type GroupCheck, io } from './check.ts'

export const checkWalletId: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const syncKey = bytes(inputs.syncKey_base64)
  t.is(walletIdOf(io, inputs.type, bytes(inputs.dataKey_base64)), outputs.id, id)
  t.is(io.crypto.toHex(syncKey), outputs.syncKeyHex, id)
  t.is(repoIdOf(io, syncKey), outputs.repoId, id)
  t.is(repoFolderOf(io, syncKey), outputs.repoFolder, id)
  t.is(localFolderOf(io, outputs.id), outputs.localFolder, id)
})

export const checkFileHash: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.is(fileHashOf(io, bytes(inputs.dataKey_base64), inputs.text), outputs.hash, id)
})

export const checkStashPath: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.is(stashPathOf(bytes(inputs.loginId_base64)), outputs.path, id)
})

import { sealBox, sealText } from '../../../kernel/crypto/box.ts'
import { hotp, isTotp, totp } from '../../../kernel/crypto/totp.ts'
import { chooseSnrpCost } from '../../../kernel/crypto/key-derivation.ts'
import { base58Of, parseBase32 } from '../../../kernel/crypto/encoding.ts'
import { normalizeUsername, passwordAuthOf, passwordKeyOf, pin2AuthOf, pin2IdOf, recovery2AuthOf, recovery2IdOf, userIdOf } from '../../../kernel/login/derive.ts'
import { checkPasswordRules } from '../../../kernel/login/methods/password.ts'
import { infoKeyOf, openBitidInfo, openLegacyRepoInfo } from '../../../kernel/login/tree.ts'
import { checkServerAddress } from '../../../kernel/kernel.ts'
import { base64, bytes, eachVector, type GroupCheck, io } from './check.ts'

export const checkUsernameNormalize: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  if (outputs.error === undefined) t.is(normalizeUsername(inputs.raw), outputs.normalized, id)
  else t.throws(() => normalizeUsername(inputs.raw), { code: 'BAD_USERNAME', message: outputs.error }, id)
})

export const checkUserId: GroupCheck = eachVector(async (t, { id, inputs, outputs }) => {
  t.is(base64(await userIdOf(io, inputs.username)), outputs.userId_base64, id)
})

export const checkPasswordAuth: GroupCheck = eachVector(async (t, { id, inputs, outputs }) => {
  t.is(base64(await passwordAuthOf(io, inputs)), outputs.passwordAuth_base64, id)
})

export const checkPasswordKey: GroupCheck = eachVector(async (t, { id, inputs, outputs }) => {
  t.is(base64(await passwordKeyOf(io, inputs, inputs.passwordKeySnrp)), outputs.passwordKey_base64, id)
})

export const checkPin2: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const pin2Key = bytes(inputs.pin2Key_base64)
  t.is(base64(pin2IdOf(io, pin2Key, inputs.username ?? undefined)), outputs.pin2Id_base64, id)
  t.is(base64(pin2AuthOf(io, pin2Key, inputs.pin)), outputs.pin2Auth_base64, id)
})

export const checkRecovery2: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const recovery2Key = bytes(inputs.recovery2Key_base64)
  t.is(base64(recovery2IdOf(io, recovery2Key, inputs.username)), outputs.recovery2Id_base64, id)
  const recovery2Auth = recovery2AuthOf(io, recovery2Key, inputs.answers)
  t.deepEqual(recovery2Auth.map(base64), outputs.recovery2Auth_base64, id)
  t.is(base58Of(recovery2Key), outputs.recoveryKey_base58, id)
})

export const checkLegacyLoginKeys: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const { appId } = inputs
  const [loginKey, rootKey] = [bytes(inputs.loginKey_base64), bytes(inputs.rootKey_base64)]
  const infoKey = infoKeyOf(io, rootKey)
  t.is(base64(infoKey), outputs.infoKey_base64, id)
  const rootKeyBox = sealBox(io, loginKey, rootKey)
  const mnemonicBox = sealText(io, infoKey, inputs.mnemonic)
  const syncKeyBox = sealBox(io, loginKey, bytes(inputs.syncKey_base64))
  const keyInfos = [
    openBitidInfo(io, loginKey, { rootKeyBox, mnemonicBox }),
    openLegacyRepoInfo(io, loginKey, { appId, syncKeyBox })
  ]
  t.deepEqual(keyInfos, outputs.keyInfos, id)
})

export const checkOtp: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const key = parseBase32(inputs.otpKey_base32)
  const time: number = inputs.now
  t.is(io.crypto.toHex(key), inputs.otpKey_hex, id)
  t.is(totp(io, key, time), outputs.code, id)
  t.is(hotp(io, key, outputs.counter), outputs.code, id)
  t.is(totp(io, key, time - 30), outputs.previous, id)
  t.is(totp(io, key, time + 30), outputs.next, id)
  for (const { counter, code } of outputs.hotp) t.is(hotp(io, key, counter), code, id)
  for (const code of [outputs.code, outputs.previous, outputs.next]) t.true(isTotp(io, key, { code, time }), id)
})

export const checkSnrpCost: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.deepEqual(chooseSnrpCost(inputs.benchMs, inputs.targetMs), outputs, id)
})

export const checkValidateServer: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  if (outputs.result === 'ok') t.notThrows(() => checkServerAddress(inputs.url), id)
  else t.throws(() => checkServerAddress(inputs.url), { code: 'LOGIN_DOMAIN', message: outputs.result }, id)
})

export const checkRules: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const { secondsToCrack, ...rules } = checkPasswordRules(inputs.password)
  const { secondsToCrack: expected, ...expectedRules } = outputs
  t.deepEqual(rules, expectedRules, id)
  // Engines differ in the last digit of a power: the vectors are of Node 20, and Node 26 rounds another way.
  t.true(Math.abs(secondsToCrack / expected - 1) <= Number.EPSILON, `${id}: ${secondsToCrack}, not ${expected}`)
})

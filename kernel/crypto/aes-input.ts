/**
 * Checks what goes into AES-CBC without padding, the same for every backend.
 *
 * The message about the size is that of the deployed system (vector `box-errors-6`).
 *
 * @throws TypeError if the key, the initialisation vector or the data has a wrong length
 */
export const checkAesInput = (key: Uint8Array, iv: Uint8Array, data: Uint8Array): void => {
  if (key.length !== 32 && key.length !== 24 && key.length !== 16) throw new TypeError('invalid key size')
  if (iv.length !== 16) throw new TypeError('invalid initialization vector size (must be 16 bytes)')
  if (data.length % 16 !== 0) throw new TypeError('invalid ciphertext size (must be multiple of 16 bytes)')
}

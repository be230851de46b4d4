/** The types that the package lacks. */
declare module 'bcrypt-pbkdf' {
  /** @returns 0, or another number where an argument is out of range. */
  export function pbkdf(
    passphrase: Uint8Array,
    passphraseLength: number,
    salt: Uint8Array,
    saltLength: number,
    key: Uint8Array,
    keyLength: number,
    rounds: number,
  ): number;
}

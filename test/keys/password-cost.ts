import type { PasswordCost } from '../../main/keys/keyslots/password.ts';

/** The cost of a password in vaults of tests about something else: next to nothing. */
export const cheapPassword: PasswordCost = { memoryKiB: 64, passes: 1, parallelism: 1 };

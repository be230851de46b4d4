import type { PasswordCost } from '../../main/keys/keyslots/password.ts';

/** What trying a password costs in vaults whose tests are about something else: next to nothing. */
export const cheapPassword: PasswordCost = { memoryKiB: 64, passes: 1, parallelism: 1 };

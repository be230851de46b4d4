/** Kinds of security events, with their titles in the window and the command. */

import { doorNames } from '../policies/doors.ts';

/** The ways that an event may name, an unlock method or a door; empty for events without one. */
export const securityWays = ['', 'keychain', 'password', 'recovery', 'shares', ...doorNames] as const;
export type SecurityWay = (typeof securityWays)[number];

export const securityEventTitles = {
  created: 'Vault created',
  restored: 'Vault restored from a backup',
  unlocked: 'Unlocked',
  wrongSecret: 'Wrong secret',
  locked: 'Locked',
  frozen: 'Frozen',
  backupMade: 'Backup created',
  backupTested: 'Backup tested',
  backupFailed: 'Backup test failed',
  recoveryChecked: 'Recovery phrase checked',
  unlockMethodAdded: 'Unlock method added',
  unlockMethodChanged: 'Unlock method changed',
  unlockMethodRemoved: 'Unlock method removed',
  masterKeyReplaced: 'Master key replaced',
  doorOn: 'Door switched on',
  doorOff: 'Door switched off',
  programPaired: 'Program paired',
  programRevoked: 'Program revoked',
} as const;

export type SecurityEventKind = keyof typeof securityEventTitles;

export const securityEventKinds = Object.keys(securityEventTitles) as readonly SecurityEventKind[];

/** Events that happen while the vault is locked too. */
export const lockedEventKinds: readonly SecurityEventKind[] = [
  'wrongSecret',
  'locked',
  'frozen',
  'backupMade',
  'backupTested',
  'backupFailed',
];

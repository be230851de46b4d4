import { noKeychain, systemKeychain, type Keychain } from '../keys/keychain/keychain.ts';
import type { Config } from './config.ts';

/** The keychain that a configuration allows. */
export const keychainOf = ({ useKeychain, sessionBus }: Config): Keychain =>
  useKeychain ? systemKeychain({ sessionBus }) : noKeychain('it is switched off (--no-keychain)');

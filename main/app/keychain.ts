import { noKeychain, systemKeychain, type Keychain } from '../keys/keychain/keychain.ts';
import { takeOtherKeyrings, type Config } from './config.ts';

/** The keychain that a configuration allows. */
export function keychainOf({ useKeychain, sessionBus }: Config): Keychain {
  if (!useKeychain) return noKeychain('it is switched off (--no-keychain)');
  takeOtherKeyrings();
  return systemKeychain({ sessionBus });
}

/**
 * A process of its own that uses the keychain: runs the steps given as JSON in its first argument and prints one line of
 * JSON, when it began and an answer for each. It ends when nothing keeps it alive; that it ends is part of what is tested.
 */
import { makeConfig } from '../../main/app/config.ts';
import { keychainOf } from '../../main/app/keychain.ts';
import type { KeychainState } from '../../main/keys/keychain/keychain.ts';
import { forgetKeychainSlot, makeKeychainSlot, openSlot } from '../../main/keys/keyslots/slots.ts';
import { assertNever, KeyhearthError } from '../../main/lib/errors.ts';
import { randomBytes } from 'node:crypto';

/** A slot as JSON carries it: bytes in hex. */
export interface SlotJson {
  readonly id: string;
  readonly kind: 'keychain';
  readonly parameters: string;
  readonly wrapped: string;
}

/** Bytes are in hex. */
export type Step =
  | { readonly do: 'probe' }
  | { readonly do: 'get' | 'delete'; readonly account: string }
  | { readonly do: 'set'; readonly account: string; readonly secret: string }
  | { readonly do: 'makeSlot'; readonly vaultId: string; readonly masterKey: string }
  | { readonly do: 'openSlot' | 'forgetSlot'; readonly vaultId: string; readonly slot: SlotJson };

export type Answer =
  | { readonly value: string | SlotJson | KeychainState | null; readonly milliseconds: number }
  | { readonly code: string; readonly message: string; readonly milliseconds: number };

const keychain = keychainOf(makeConfig({}));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const row = (slot: SlotJson) => ({ ...slot, wrapped: bytes(slot.wrapped), createdAt: 0, confirmedAt: null });

async function take(step: Step): Promise<string | SlotJson | KeychainState | null> {
  switch (step.do) {
    case 'probe':
      return keychain.probe();
    case 'get': {
      const secret = await keychain.get(step.account);
      return secret === undefined ? null : hex(secret);
    }
    case 'set':
      await keychain.set(step.account, bytes(step.secret));
      return null;
    case 'delete':
      await keychain.delete(step.account);
      return null;
    case 'makeSlot': {
      const { id, parameters, wrapped } = await makeKeychainSlot({
        masterKey: bytes(step.masterKey),
        vaultId: step.vaultId,
        keychain,
        random: (_purpose, length) => Uint8Array.from(randomBytes(length)),
        now: 0,
      });
      return { id, kind: 'keychain', parameters, wrapped: hex(wrapped) };
    }
    case 'openSlot':
      return hex(await openSlot(step.vaultId, row(step.slot), { with: 'keychain', keychain }));
    case 'forgetSlot':
      await forgetKeychainSlot(keychain, step.vaultId, step.slot);
      return null;
    default:
      return assertNever(step);
  }
}

const begun = performance.now();
const answers: Answer[] = [];
for (const step of JSON.parse(process.argv[2] ?? '[]') as Step[]) {
  const started = performance.now();
  const elapsed = (): number => Math.round(performance.now() - started);
  try {
    answers.push({ value: await take(step), milliseconds: elapsed() });
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    answers.push({ code: error.code, message: error.message, milliseconds: elapsed() });
  }
}
process.stdout.write(`${JSON.stringify({ begun, answers })}\n`);

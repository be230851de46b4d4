/** Activities in words, for a terminal. */
import { visible } from './descriptions.ts';

type Intent = Readonly<Record<string, unknown>>;

/** Without its prefix and version. */
const bareType = (type: string): string => type.replace(/^ACTIVITY_TYPE_/, '').replace(/_V\d+$/, '');

/** `ACTIVITY_TYPE_CREATE_WALLET`: Create wallet. Of a signature, with which key. */
export function activityTitle(type: string, { signWith }: Intent): string {
  const words = bareType(type)
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\bapi\b/, 'API');
  const key = typeof signWith === 'string' ? ` with ${signWith}` : '';
  return visible(`${words.charAt(0).toUpperCase()}${words.slice(1)}${key}`);
}

/** What was asked, without the wrapper that names the type's version. */
export function intentOf({ intent }: { readonly intent: Intent }): Intent {
  const [first] = Object.values(intent);
  return typeof first === 'object' && first !== null ? (first as Intent) : {};
}

/** Characters of one value, and how many values, that a line of a list shows. */
const longestValue = 60;
const mostValues = 4;

/** What is said in one word of what was asked: `walletName "Savings", accounts (2)`. */
export function intentLine(intent: Intent): string {
  const said = Object.entries(intent).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [`${name} (${String(value.length)})`];
    if (typeof value === 'object' || value === undefined || value === '') return [];
    const text = JSON.stringify(value);
    return [`${name} ${text.length > longestValue ? `${text.slice(0, longestValue)}…` : text}`];
  });
  return visible([...said.slice(0, mostValues), ...(said.length > mostValues ? ['…'] : [])].join(', '));
}

/** @returns each thing that an activity signs, as `describe_payload` takes it; nothing where it signs nothing. */
export function toBeSigned(type: string, intent: Intent): readonly Intent[] {
  switch (bareType(type)) {
    case 'SIGN_TRANSACTION': {
      const { type: chain, unsignedTransaction, signWith } = intent;
      // Only Bitcoin's transactions are read by who signs them, and a key may be gone since.
      return [
        { type: chain, unsignedTransaction, ...(chain === 'TRANSACTION_TYPE_BITCOIN' ? { signWith } : {}) },
      ];
    }
    case 'SIGN_RAW_PAYLOAD': {
      const { payload, encoding, hashFunction, preimage } = intent;
      return [{ payload, encoding, hashFunction, preimage }];
    }
    case 'SIGN_RAW_PAYLOADS': {
      const { payloads, encoding, hashFunction } = intent;
      if (!Array.isArray(payloads)) return [];
      return payloads.map((payload: unknown) => ({ payload, encoding, hashFunction }));
    }
    default:
      return [];
  }
}

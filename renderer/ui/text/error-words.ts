/**
 * The window's words for the service's errors. The API's texts stay as clients parse them: they name fields,
 * options and ids. This table translates those that a person may cause here, by their code or by their form.
 */

import { t } from '../../app/i18n/text.ts';

/** An error as the service answers it. */
export interface ServiceError {
  readonly message: string;
  /** The API's `turnkeyErrorCode`, where the call was an operation. */
  readonly code?: string | undefined;
}

type Groups = Readonly<Record<string, string>>;

interface Translation {
  readonly code?: string;
  readonly form: RegExp;
  /** @param found The form's named groups. */
  readonly words: (found: Groups) => string;
}

const of = (form: RegExp, words: Translation['words']): Translation => ({ form, words });
const anyForm = /^/;

/** The first that fits is shown. */
const translations: readonly Translation[] = [
  of(/must be unique, (?<name>".*") is taken$/s, (found) =>
    t('The name “{{name}}” is taken. Choose another name.', { name: unquoted(found['name']) }),
  ),
  of(/ (?<name>".*") looks like (?<other>".*"), which is there already$/s, (found) =>
    t('“{{name}}” looks like the existing name “{{other}}”. Choose a name that differs more.', {
      name: unquoted(found['name']),
      other: unquoted(found['other']),
    }),
  ),
  of(/^maximum number of .+ reached: (?<limit>\d+) are allowed/, (found) =>
    t('The limit of {{count}} is reached. Delete some, or raise the limits in the settings.', {
      count: Number(found['limit']),
    }),
  ),
  of(/: expected at most (?<most>\d+) [a-z ]+ in one request/, (found) =>
    t('Too many at once: choose at most {{most}}.', { most: found['most'] ?? '' }),
  ),
  {
    code: 'WALLET_ACCOUNT_NOT_EXPORTED',
    form: anyForm,
    words: () => t('This vault has the only copy. Export first, then delete.'),
  },
  of(/^user missing valid credential: .* would have none left/, () =>
    t('This is the user’s last way to sign in. Add another API key or passkey first.'),
  ),
  of(/is a member of the root quorum and cannot be deleted$/, () =>
    t('This user is in the root quorum. Remove the user there first, under Organization.'),
  ),
  of(/is the window's own key, which is not deleted$/, () =>
    t('This window signs with this key. The key can’t be deleted.'),
  ),
  of(/this credential is registered in .* already$/s, () => t('This key or passkey is already registered.')),
  of(/^path already exists in wallet account/, () =>
    t('The wallet already has an account with this path and address format.'),
  ),
  of(/: expected a UUID(?: in \w+)?, got /, () => t('Not found: this address has a mistyped ID.')),
  of(/^seed for wallet .* already imported/, () => t('A wallet with this seed phrase already exists.')),
  of(/^private key with ID .* already been imported/, () => t('This private key already exists.')),
  of(/^invalid parameters\.encryptedBundle: it opens with none/, () =>
    t('The import took too long. Try again.'),
  ),
  of(/^invalid parameters\.\w*[tT]hreshold: /, () =>
    t('Choose a threshold no higher than the number of members.'),
  ),
  of(/^user missing valid credential: parameters\.rootUsers/, () =>
    t('A root user needs an API key, email address or phone number.'),
  ),
  of(/^request not authorized: parameters\.userId must be/, () =>
    t('Users can do this only for themselves.'),
  ),
  of(/ has a smart contract interface already/, () =>
    t('This address has an interface. Delete that one first.'),
  ),
  of(/^Could not find any resource to sign with\.$/, () =>
    t('This key or account no longer exists. Choose another one.'),
  ),
  of(/takes no more votes, it is /, () => t('This request has already been decided.')),
  of(/cannot be executed: the user who submitted it is gone/, () =>
    t('This request’s sender no longer exists. Reject the request, then send it again.'),
  ),
  of(/^testing takes more than (?<seconds>\d+) seconds/, (found) =>
    t('Testing took more than {{seconds}} seconds. Choose fewer activities.', {
      seconds: found['seconds'] ?? '',
    }),
  ),
  of(/^You don't have sufficient permissions/, () =>
    t('No policy allows this. Change the policies, or ask a member of the root quorum.'),
  ),
  of(/\(--force\)$/, () => t('This file exists. Choose another name, or confirm replacing it.')),
  of(/; restore elsewhere \(--data-dir\), or move it away first$/, () =>
    t('This folder already has a vault. Move that vault away first.'),
  ),
  of(/: unlock it with its password, keychain or recovery phrase, then send the request again\.$/, () =>
    t('The vault is locked. Unlock it and try again.'),
  ),
  of(/^(?:unable to find|Could not find|there is no such)\b|: (?:unable to find|there is no .+ tag) /, () =>
    t('Not found. Someone may have deleted this in the meantime.'),
  ),
  // The window's key may read its own organization and those below it.
  of(/^could not find public key in organization /, () =>
    t('Not found, or not accessible from here. Someone may have deleted this in the meantime.'),
  ),
  of(/^missing field [\w.[\]]+: expected (?:an?|at least|one of) [^:;]*$/, () =>
    t('A required field is empty.'),
  ),
  of(/: expected at most (?<most>\d+) characters, got /, (found) =>
    t('Too long: use at most {{most}} characters.', { most: found['most'] ?? '' }),
  ),
  of(/: expected at least (?<least>\d+) characters?, got /, (found) =>
    t('Too short: use at least {{least}} characters.', { least: found['least'] ?? '' }),
  ),
  of(/^internal error: /, () => t('Something went wrong in the service. Check Activity before you retry.')),
  of(/^(?:Too many requests|Max number of OTPs)\b/, () =>
    t('Too many messages in a short time. Wait and try again.'),
  ),
];

/** @returns the error in the window's words; undefined where the table does not know it. */
export function translated({ message, code }: ServiceError): string | undefined {
  for (const { code: known, form, words } of translations) {
    if (known !== undefined && known !== code) continue;
    const found = form.exec(message);
    if (found !== null) return words(found.groups ?? {});
  }
  return undefined;
}

/** @param json A text as the service quotes it in an error. */
function unquoted(json = '""'): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json.slice(1, -1);
  }
}

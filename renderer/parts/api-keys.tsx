import type { ReactNode } from 'react';
import { notifications } from '@mantine/notifications';
import { ShortId } from './identifier.tsx';
import { DeleteForm, DialogButton } from './manage.tsx';
import { Moment, useNow } from './moment.tsx';
import { Panel } from './page.tsx';
import type { ApiKey, User } from './resources.ts';
import { Empty } from './states.tsx';
import { millisecondsOf } from './time.ts';
import { useStatus, useSubmit } from './vault.tsx';
import './rows.css';

const deleteApiKeys = {
  operation: 'delete_api_keys',
  type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
  result: 'deleteApiKeysResult',
} as const;

/** The name that setting up a vault gives to the key of its own window. */
const windowKeyName = 'Latchkey window';

interface Props {
  readonly title: string;
  /** Null while it is not known. */
  readonly user: User | null;
  /** What is shown instead of the list. */
  readonly instead: ReactNode;
  readonly aside?: ReactNode;
}

/** A user's API keys, each with its end. */
export function ApiKeys({ title, user, instead, aside }: Props): ReactNode {
  const { owner } = useStatus();
  const keys = user?.apiKeys.filter(isLasting) ?? [];
  const windowKey =
    user?.userId === owner?.userId ? keys.find(({ apiKeyName }) => apiKeyName === windowKeyName) : undefined;
  return (
    <Panel title={title} kind="plain" aside={aside}>
      {instead}
      {user !== null && keys.length === 0 && (
        <Empty title="No key yet" level={3}>
          <p>
            With an API key a script signs its requests. The vault keeps the public half and knows by it who
            asks.
          </p>
        </Empty>
      )}
      {user !== null && keys.length > 0 && (
        <ul className="lk-rows" aria-label={title}>
          {keys.map((key) => (
            <li key={key.apiKeyId} className="lk-row lk-manage">
              <div>
                <span className="lk-row-name">{key.apiKeyName}</span>
                <br />
                <ShortId text={key.credential.publicKey} what={`public key of ${key.apiKeyName}`} />
                <br />
                <span className="lk-row-more">
                  {describeCredential(key)}Made <Moment at={key.createdAt} /> · <Expiry of={key} />
                </span>
              </div>
              {key === windowKey ? (
                <span className="lk-row-more">This window’s own</span>
              ) : (
                <DeleteApiKey of={key} user={user} />
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The keys of sign-ins are listed as sessions. */
const isLasting = ({ credential: { type } }: ApiKey): boolean => type.startsWith('CREDENTIAL_TYPE_API_KEY_');

/** P-256 goes without saying. */
const describeCredential = ({ credential: { type } }: ApiKey): string =>
  type.endsWith('_SECP256K1') ? 'secp256k1 · ' : type.endsWith('_ED25519') ? 'Ed25519 · ' : '';

function Expiry({ of: { createdAt, expirationSeconds } }: { readonly of: ApiKey }): ReactNode {
  const present = useNow();
  if (expirationSeconds === undefined) return 'does not expire';
  const seconds = Math.floor(millisecondsOf(createdAt) / 1000) + Number(expirationSeconds);
  return (
    <>
      {seconds * 1000 <= present ? 'expired' : 'expires'}{' '}
      <Moment at={{ seconds: String(seconds), nanos: '0' }} ahead />
    </>
  );
}

function DeleteApiKey({ of, user }: { readonly of: ApiKey; readonly user: User }): ReactNode {
  const remove = useSubmit<{ userId: string; apiKeyIds: readonly string[] }, unknown>(deleteApiKeys);
  const { apiKeyId, apiKeyName } = of;
  return (
    <DialogButton
      name="Delete…"
      label={`Delete the key ${apiKeyName}`}
      title={`Delete “${apiKeyName}”`}
      danger
    >
      {(close) => (
        <DeleteForm
          what="API key"
          outcomes={[
            `Requests that it signs for ${user.userName} are refused from then on.`,
            'It cannot be brought back. Another key is quickly made.',
          ]}
          submitting={remove}
          onCancel={close}
          onDelete={() => {
            remove.mutate(
              { userId: user.userId, apiKeyIds: [apiKeyId] },
              {
                onSuccess() {
                  close();
                  notifications.show({
                    title: 'The API key is deleted',
                    message: `“${apiKeyName}” opens nothing now.`,
                  });
                },
              },
            );
          }}
        />
      )}
    </DialogButton>
  );
}

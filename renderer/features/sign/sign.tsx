import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Group, SegmentedControl, Select, Stack, Text, Textarea } from '@mantine/core';
import { IconFileCode, IconSignature } from '@tabler/icons-react';
import { Link } from 'wouter';
import { toHex } from '../../ui/text/bytes.ts';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import { hashFunctionsFor, readRequest } from './payload.ts';
import type { HashFunction, PayloadForm } from './payload.ts';
import type { PrivateKey, Wallet } from '../../app/rpc/resources.ts';
import { SignTransaction } from './sign-transaction.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useSignerChoice } from './signer-choice.tsx';
import type { Start } from './signer-choice.tsx';
import { SignedPanel } from './signed-panel.tsx';
import type { Signed } from './signed-panel.tsx';
import { TypedSummary } from './transaction-summary.tsx';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';

export function Sign({ start }: { readonly start?: Start }): ReactNode {
  const wallets = useApiQuery('list_wallets');
  const keys = useApiQuery('list_private_keys');
  const error = wallets.error ?? keys.error;
  const nothing = wallets.data?.wallets.length === 0 && keys.data?.privateKeys.length === 0;
  return (
    <>
      <PageHead
        title={t('Sign')}
        lead={t('Sign text, bytes or a transaction with one of your keys.')}
        action={
          <Button
            component={Link}
            href="/sign/contracts"
            variant="default"
            leftSection={<IconFileCode size={16} aria-hidden />}
          >
            {t('Contract interfaces')}
          </Button>
        }
      />
      <Failure
        title={t('Couldn’t load your keys')}
        error={error}
        onRetry={() => {
          void wallets.refetch();
          void keys.refetch();
        }}
      />
      {error === null && (wallets.data === undefined || keys.data === undefined) && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading your keys')} />
        </Panel>
      )}
      {nothing && (
        <Panel kind="plain">
          <Empty
            title={t('No keys yet')}
            icon={IconSignature}
            action={
              <Button component={Link} href="/wallets/new">
                {t('Create wallet')}
              </Button>
            }
          >
            <p>{t('To sign, create a wallet with an account or a private key.')}</p>
          </Empty>
        </Panel>
      )}
      {!nothing && wallets.data !== undefined && keys.data !== undefined && (
        <SignForm start={start} wallets={wallets.data.wallets} privateKeys={keys.data.privateKeys} />
      )}
    </>
  );
}

interface FormProps {
  readonly start: Start | undefined;
  readonly wallets: readonly Wallet[];
  readonly privateKeys: readonly PrivateKey[];
}

function SignForm({ start, ...keys }: FormProps): ReactNode {
  const { signer, addressFormat, fields } = useSignerChoice(start, keys);
  const [mode, setMode] = useState<PayloadForm | 'transaction'>('text');
  const form: PayloadForm = mode === 'transaction' ? 'hex' : mode;
  const [typed, setTyped] = useState('');
  const [typedPreimage, setTypedPreimage] = useState('');
  const [wantedHash, setWantedHash] = useState<HashFunction | null>(null);
  const [tried, setTried] = useState(false);
  const [signed, setSigned] = useState<Signed | null>(null);
  const submit = useSubmit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2');

  const hashes = hashFunctionsFor(signer?.curve ?? 'CURVE_SECP256K1');
  const usual = signer?.isEthereum === true ? 'HASH_FUNCTION_KECCAK256' : 'HASH_FUNCTION_SHA256';
  const hash =
    hashes.find(({ id }) => id === wantedHash) ?? hashes.find(({ id }) => id === usual) ?? hashes[0];
  const { bytes, problem, isHash, preimageProblem, payload, digest } = readRequest(form, hash, {
    typed,
    typedPreimage,
  });

  const send = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (payload === null || signer === undefined) return;
    setSigned(null);
    submit.mutate(
      { signWith: signer.signWith, ...payload },
      {
        onSuccess({ result, activity }) {
          setSigned({ signature: result, signer, bytes: bytes.length, digest, activityId: activity.id });
        },
      },
    );
  };

  return (
    <form onSubmit={send} noValidate className="kh-beside">
      <div>
        <Panel>
          <Stack gap="lg">
            {fields}
            <div>
              <Group justify="space-between" align="end" mb={6}>
                <label htmlFor="payload" className="kh-label">
                  {t('Payload')}
                </label>
                <SegmentedControl
                  size="xs"
                  aria-label={t('Payload format')}
                  value={mode}
                  onChange={setMode}
                  data={[
                    { value: 'text', label: t('Text') },
                    { value: 'hex', label: t('Hex') },
                    { value: 'transaction', label: t('Transaction') },
                  ]}
                />
              </Group>
              {mode === 'transaction' ? (
                <SignTransaction
                  id="payload"
                  key={signer?.signWith}
                  signWith={signer?.signWith}
                  curve={signer?.curve}
                  format={addressFormat}
                />
              ) : (
                <Textarea
                  id="payload"
                  autosize
                  minRows={4}
                  maxRows={14}
                  spellCheck={false}
                  autoComplete="off"
                  className={form === 'hex' ? 'kh-mono-input' : ''}
                  placeholder={form === 'hex' ? '0x…' : ''}
                  value={typed}
                  error={(tried || typed !== '') && problem !== null ? problem : null}
                  onChange={onText(setTyped)}
                />
              )}
            </div>
            {mode !== 'transaction' && (
              <>
                {hashes.length > 1 ? (
                  <Select
                    label={t('Hash function')}
                    description={t(
                      '{{algorithm}} signs a 32-byte hash. Use the function the other side expects.',
                      { algorithm: signer?.schnorr === true ? 'Schnorr' : 'ECDSA' },
                    )}
                    data={hashes.map(({ id, label, about }) => ({ value: id, label: `${label} · ${about}` }))}
                    value={hash?.id ?? null}
                    allowDeselect={false}
                    onChange={(value) => {
                      setWantedHash(value);
                    }}
                  />
                ) : (
                  <Text size="sm" c="dimmed">
                    {t('Hash function: none.')} {hash?.about}.
                  </Text>
                )}
                {isHash && (
                  <Textarea
                    label={t('Original data (optional)')}
                    description={t(
                      'In hex. The vault checks the hash, shows the content and stores the data with the activity.',
                    )}
                    autosize
                    maxRows={8}
                    spellCheck={false}
                    autoComplete="off"
                    className="kh-mono-input"
                    value={typedPreimage}
                    error={preimageProblem}
                    onChange={onText(setTypedPreimage)}
                  />
                )}
                {payload !== null && <TypedSummary request={payload} />}
                <Failure title={t('Nothing was signed')} error={submit.error} />
                <div>
                  <Button type="submit" loading={submit.isPending} disabled={signer === undefined}>
                    {t('Sign')}
                  </Button>
                </div>
              </>
            )}
          </Stack>
        </Panel>
        {signed !== null && <SignedPanel key={signed.activityId} signed={signed} />}
      </div>
      <aside>
        <Expectations
          items={[
            signer === undefined
              ? t('Choose a key first.')
              : t('Signs with the key of {{name}}, which stays in the vault.', { name: signer.name }),
            mode === 'transaction' ? (
              t('The vault shows what the transaction does before you sign.')
            ) : problem !== null ? (
              t('Your input is signed exactly as entered.')
            ) : (
              <Preview bytes={bytes} digest={digest} />
            ),
            signer?.schnorr === true
              ? t('This address uses Schnorr signatures (BIP-340).')
              : signer?.isEthereum === true
                ? t('Unlike in Ethereum wallets, no message prefix (EIP-191) is added.')
                : t('The signature is shown here and kept in the activity log.'),
          ]}
        />
      </aside>
    </form>
  );
}

const previewed = 48;

function Preview({
  bytes,
  digest,
}: {
  readonly bytes: Uint8Array;
  readonly digest: string | null;
}): ReactNode {
  return (
    <>
      {t('{{count}} bytes are signed:', { count: bytes.length })}
      <code className="kh-bytes">
        {toHex(bytes.slice(0, previewed))}
        {bytes.length > previewed && '…'}
      </code>
      {digest === null ? (
        t('Ed25519 signs the bytes directly.')
      ) : (
        <>
          {t('Signed hash:')}
          <code className="kh-bytes">{digest}</code>
        </>
      )}
    </>
  );
}

import { useEffect, useRef, useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import {
  Button,
  Fieldset,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core';
import type { ComboboxParsedItem } from '@mantine/core';
import { IconFileCode, IconSignature } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../main/lib/visible-text.ts';
import { AccountSelect, accountName, useFirstAccount } from '../parts/account-select.tsx';
import { toHex } from '../parts/bytes.ts';
import { curveLabel, describeFormat } from '../parts/chains.ts';
import type { Curve } from '../parts/chains.ts';
import { Facts, Outcomes, PageHead, Panel } from '../parts/page.tsx';
import {
  ethereumSignature,
  hashFunctionsFor,
  hasRecoveryId,
  joinSignature,
  readPayload,
  readPreimage,
} from '../parts/payload.ts';
import type { HashFunction, PayloadForm, Preimage, Signature } from '../parts/payload.ts';
import type { PrivateKey, Wallet, WalletAccount } from '../parts/resources.ts';
import { shorten } from '../parts/short.ts';
import { SignTransaction } from '../parts/sign-transaction.tsx';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { t, Trans } from '../parts/text.ts';
import { TypedSummary } from '../parts/transaction-summary.tsx';
import { Value } from '../parts/value.tsx';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import { mostOffered } from '../parts/wallet-accounts.ts';

/** What the screen was opened for. */
type Start =
  | { readonly kind: 'account'; readonly walletId: string; readonly address: string }
  | { readonly kind: 'key'; readonly privateKeyId: string };

/** What signs: what the service is told, and what a person knows it by. */
interface Signer {
  readonly signWith: string;
  readonly name: string;
  readonly curve: Curve;
  readonly isEthereum: boolean;
  /** Whether it signs with Schnorr, as its address asks for. */
  readonly schnorr: boolean;
}

const signRawPayload = {
  operation: 'sign_raw_payload',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  result: 'signRawPayloadResult',
} as const;

interface Request {
  readonly signWith: string;
  readonly payload: string;
  readonly encoding: string;
  readonly hashFunction: HashFunction;
  readonly preimage?: Preimage;
}

/** A signature with what it is of: the form may have moved on since. */
interface Signed {
  readonly signature: Signature;
  readonly signer: Signer;
  readonly bytes: number;
  readonly digest: string | null;
  readonly activityId: string;
}

export function Sign({ start }: { readonly start?: Start }): ReactNode {
  const wallets = useAsk<{ wallets: readonly Wallet[] }>('list_wallets');
  const keys = useAsk<{ privateKeys: readonly PrivateKey[] }>('list_private_keys');
  const error = wallets.error ?? keys.error;
  const nothing = wallets.data?.wallets.length === 0 && keys.data?.privateKeys.length === 0;
  return (
    <>
      <PageHead
        title={t('Sign')}
        lead={t('Sign text or bytes exactly as you give them, or a transaction, with one of your keys.')}
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
        title={t('Your keys could not be read')}
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
            title={t('Nothing to sign with yet')}
            icon={IconSignature}
            action={
              <Button component={Link} href="/wallets/new">
                {t('New wallet')}
              </Button>
            }
          >
            <p>
              {t('Signing needs a wallet with an account, or a private key. A wallet is made in a minute.')}
            </p>
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

function SignForm({ start, wallets, privateKeys }: FormProps): ReactNode {
  const [kind, setKind] = useState<'account' | 'key'>(
    start?.kind ?? (wallets.length > 0 ? 'account' : 'key'),
  );
  const [walletId, setWalletId] = useState(
    start?.kind === 'account' ? start.walletId : (wallets[0]?.walletId ?? null),
  );
  const [chosen, setChosen] = useState<WalletAccount | null>(null);
  const [keyId, setKeyId] = useState(
    start?.kind === 'key' ? start.privateKeyId : (privateKeys[0]?.privateKeyId ?? null),
  );
  const [mode, setMode] = useState<PayloadForm | 'transaction'>('text');
  const form: PayloadForm = mode === 'transaction' ? 'hex' : mode;
  const [typed, setTyped] = useState('');
  const [typedPreimage, setTypedPreimage] = useState('');
  const [wantedHash, setWantedHash] = useState<HashFunction | null>(null);
  const [tried, setTried] = useState(false);
  const [signed, setSigned] = useState<Signed | null>(null);
  const isFirstWallet = start?.kind === 'account' && start.walletId === walletId;
  const first = useFirstAccount(kind === 'account' ? walletId : null, isFirstWallet ? start.address : null);
  const submit = useSubmit<Request, Signature>(signRawPayload);

  const account = chosen ?? first;
  const privateKey = privateKeys.find((each) => each.privateKeyId === keyId);
  const signer =
    kind === 'account'
      ? account &&
        accountSigner(account, wallets.find((each) => each.walletId === walletId)?.walletName ?? '')
      : privateKey && keySigner(privateKey);
  const hashes = hashFunctionsFor(signer?.curve ?? 'CURVE_SECP256K1');
  const usual = signer?.isEthereum === true ? 'HASH_FUNCTION_KECCAK256' : 'HASH_FUNCTION_SHA256';
  const hash =
    hashes.find(({ id }) => id === wantedHash) ?? hashes.find(({ id }) => id === usual) ?? hashes[0];
  const read = readPayload(form, typed);
  const length = read.ok ? read.bytes.length : 0;
  const problem = !read.ok
    ? read.problem
    : hash?.id === 'HASH_FUNCTION_NO_OP' && length !== 32
      ? t('A hash has 32 bytes; {{count}} bytes are here. Choose a hash function, or paste the hash.', {
          count: length,
        })
      : null;
  const isHash = read.ok && problem === null && form === 'hex' && hash?.id === 'HASH_FUNCTION_NO_OP';
  const preimage = isHash ? readPreimage(read.bytes, typedPreimage) : null;
  const preimageProblem = preimage !== null && 'problem' in preimage ? preimage.problem : null;
  const payload =
    read.ok && problem === null && hash !== undefined
      ? {
          payload: read.payload,
          encoding: read.encoding,
          hashFunction: hash.id,
          ...(preimage === null || 'problem' in preimage ? {} : { preimage }),
        }
      : null;
  const digest = read.ok && hash?.digest && problem === null ? toHex(hash.digest(read.bytes)) : null;

  const send = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (payload === null || preimageProblem !== null || signer === undefined) return;
    setSigned(null);
    submit.mutate(
      { signWith: signer.signWith, ...payload },
      {
        onSuccess({ result, activity }) {
          setSigned({ signature: result, signer, bytes: length, digest, activityId: activity.id });
        },
      },
    );
  };

  return (
    <form onSubmit={send} noValidate className="lk-beside">
      <div>
        <Panel>
          <Stack gap="lg">
            <Fieldset legend={t('Sign with')} variant="unstyled">
              <Stack gap="sm">
                <SegmentedControl
                  aria-label={t('Kind of key')}
                  value={kind}
                  onChange={setKind}
                  data={[
                    { value: 'account', label: t('A wallet account') },
                    { value: 'key', label: t('A private key') },
                  ]}
                />
                {kind === 'account' && wallets.length === 0 && (
                  <Text size="sm">
                    <Trans
                      i18nKey="There is no wallet yet. <a>Make one</a>."
                      components={{ a: <Link href="/wallets/new" className="lk-link" /> }}
                    />
                  </Text>
                )}
                {kind === 'account' && wallets.length > 0 && (
                  <>
                    <Select
                      label={t('Wallet')}
                      data={wallets.map((each) => ({
                        value: each.walletId,
                        label: visibleName(each.walletName),
                      }))}
                      value={walletId}
                      allowDeselect={false}
                      searchable={wallets.length > 8}
                      onChange={(value) => {
                        setWalletId(value);
                        setChosen(null);
                      }}
                    />
                    {walletId !== null && (
                      <AccountSelect
                        key={walletId}
                        walletId={walletId}
                        value={account}
                        onChoose={setChosen}
                      />
                    )}
                  </>
                )}
                {kind === 'key' && privateKeys.length === 0 && (
                  <Text size="sm">
                    <Trans
                      i18nKey="There is no private key yet. <a>Make one</a>."
                      components={{ a: <Link href="/private-keys/new" className="lk-link" /> }}
                    />
                  </Text>
                )}
                {kind === 'key' && privateKeys.length > 0 && (
                  <Select
                    label={t('Private key')}
                    data={privateKeys.map((each) => ({
                      value: each.privateKeyId,
                      label: `${visibleName(each.privateKeyName)} · ${curveLabel(each.curve)}`,
                    }))}
                    value={keyId}
                    allowDeselect={false}
                    searchable={privateKeys.length > 8}
                    limit={mostOffered}
                    nothingFoundMessage={t('No private key fits')}
                    filter={({ options, search, limit }) =>
                      findKeys(options, search, privateKeys).slice(0, limit)
                    }
                    onFocus={({ currentTarget }) => {
                      currentTarget.select();
                    }}
                    onChange={setKeyId}
                  />
                )}
              </Stack>
            </Fieldset>
            <div>
              <Group justify="space-between" align="end" mb={6}>
                <label htmlFor="payload" className="lk-label">
                  {t('What to sign')}
                </label>
                <SegmentedControl
                  size="xs"
                  aria-label={t('Form of the payload')}
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
                  format={kind === 'account' ? account?.addressFormat : undefined}
                />
              ) : (
                <Textarea
                  id="payload"
                  autosize
                  minRows={4}
                  maxRows={14}
                  spellCheck={false}
                  autoComplete="off"
                  className={form === 'hex' ? 'lk-mono-input' : ''}
                  placeholder={form === 'hex' ? '0x…' : ''}
                  value={typed}
                  error={(tried || typed !== '') && problem !== null ? problem : null}
                  onChange={(event) => {
                    setTyped(event.currentTarget.value);
                  }}
                />
              )}
            </div>
            {mode !== 'transaction' && (
              <>
                {hashes.length > 1 ? (
                  <Select
                    label={t('Hash function')}
                    description={t(
                      '{{algorithm}} signs a hash of 32 bytes. Use the one the other side expects.',
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
                    {t('Hash function: none to choose.')} {hash?.about}.
                  </Text>
                )}
                {isHash && (
                  <Textarea
                    label={t('What it is the hash of')}
                    description={t(
                      'In hex, if you have it. The vault hashes it again before it shows what it says, and keeps it with the signature’s activity.',
                    )}
                    autosize
                    maxRows={8}
                    spellCheck={false}
                    autoComplete="off"
                    className="lk-mono-input"
                    value={typedPreimage}
                    error={preimageProblem}
                    onChange={(event) => {
                      setTypedPreimage(event.currentTarget.value);
                    }}
                  />
                )}
                {payload !== null && preimageProblem === null && <TypedSummary request={payload} />}
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
        <Outcomes
          items={[
            signer === undefined
              ? t('Choose a key first.')
              : t('The key of {{name}} is used. It does not leave the vault.', { name: signer.name }),
            mode === 'transaction' ? (
              t('The vault reads the transaction and tells what it does before you sign it.')
            ) : problem !== null ? (
              t('What you type is signed as it is: nothing is added and nothing is trimmed.')
            ) : (
              <Preview bytes={read.ok ? read.bytes : new Uint8Array()} digest={digest} />
            ),
            signer?.schnorr === true
              ? t('This address asks for a Schnorr signature (BIP-340).')
              : signer?.isEthereum === true
                ? t('Ethereum wallets put a prefix before messages (EIP-191). Here none is added.')
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
      <code className="lk-bytes">
        {toHex(bytes.slice(0, previewed))}
        {bytes.length > previewed && '…'}
      </code>
      {digest === null ? (
        t('Ed25519 signs them directly.')
      ) : (
        <>
          {t('The hash of them that is signed:')}
          <code className="lk-bytes">{digest}</code>
        </>
      )}
    </>
  );
}

function SignedPanel({ signed }: { readonly signed: Signed }): ReactNode {
  const { signature, signer, bytes, digest, activityId } = signed;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    heading.current?.closest('section')?.scrollIntoView({ block: 'nearest' });
  }, []);
  const withRecoveryId = hasRecoveryId(signer.curve, signer.schnorr);
  const joined = joinSignature(signature, withRecoveryId);
  return (
    <section className="lk-panel" aria-labelledby="signed">
      <div className="lk-panel-head">
        <Title order={2} id="signed" ref={heading} tabIndex={-1}>
          {t('Signed')}
        </Title>
        <Link href={`/activity/${activityId}`} className="lk-link">
          {t('See it in the log')}
        </Link>
      </div>
      <div className="lk-panel-body">
        <Text size="sm" c="dimmed" mb="md">
          {digest === null
            ? t('{{count}} bytes, with {{name}}.', { count: bytes, name: signer.name })
            : t('{{count}} bytes, with {{name}}, as the hash {{digest}}.', {
                count: bytes,
                name: signer.name,
                digest: shorten(digest),
              })}
        </Text>
        <Facts
          rows={[
            [
              withRecoveryId ? t('Signature (r, s, v)') : t('Signature (r, s)'),
              <Value key="joined" text={joined} copy={t('Copy signature')} />,
            ],
            ...(signer.isEthereum
              ? ([
                  [
                    t('For Ethereum (v from 27)'),
                    <Value
                      key="ethereum"
                      text={ethereumSignature(signature)}
                      copy={t('Copy Ethereum signature')}
                    />,
                  ],
                ] as const)
              : []),
            ['r', <Value key="r" text={signature.r} copy={t('Copy r')} />],
            ['s', <Value key="s" text={signature.s} copy={t('Copy s')} />],
            ['v', <Value key="v" text={signature.v} copy={t('Copy v')} />],
          ]}
        />
      </div>
    </section>
  );
}

const accountSigner = (account: WalletAccount, walletName: string): Signer => ({
  signWith: account.address,
  name: `${walletName}, ${accountName(account)}`,
  curve: account.curve as Curve,
  isEthereum: account.addressFormat === 'ADDRESS_FORMAT_ETHEREUM',
  schnorr: describeFormat(account.addressFormat).schnorr === true,
});

/** By name, id or address; all where the name of what is chosen stands in the field. */
function findKeys(
  options: readonly ComboboxParsedItem[],
  search: string,
  keys: readonly PrivateKey[],
): ComboboxParsedItem[] {
  const text = search.trim().toLowerCase();
  const isChosen = options.some((option) => 'label' in option && option.label === search);
  const fits = ({ privateKeyId, privateKeyName, addresses }: PrivateKey): boolean =>
    isChosen ||
    [privateKeyName, privateKeyId, ...addresses.map(({ address = '' }) => address)].some((each) =>
      each.toLowerCase().includes(text),
    );
  const found = new Set(keys.filter(fits).map(({ privateKeyId }) => privateKeyId));
  return options.filter((option) => 'value' in option && found.has(option.value));
}

const keySigner = (key: PrivateKey): Signer => ({
  signWith: key.privateKeyId,
  name: `“${key.privateKeyName}”`,
  curve: key.curve as Curve,
  isEthereum: key.addresses.some(({ format }) => format === 'ADDRESS_FORMAT_ETHEREUM'),
  // It is named by its id.
  schnorr: false,
});

/** The form that signs: what is pasted, how it is read, what the service reads of it, and the result. */

import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Checkbox, Select, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Expectations, Panel } from '../../ui/page.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { onText } from '../../ui/on-text.ts';
import { useDraftState } from '../../app/drafts.ts';
import { t } from '../../app/i18n/text.ts';
import { useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import type { PrivateKey, Wallet } from '../../app/rpc/resources.ts';
import { hashFunctionsFor, readRequest } from './payload.ts';
import type { HashFunction } from './payload.ts';
import { PayloadField } from './payload-field.tsx';
import { ReadingChoice, useReadingChoice } from './reading-choice.tsx';
import { ethereumMessage } from './readings.ts';
import type { FormedReading, ReadingKind, SignRequest } from './readings.ts';
import { useSignerChoice } from './signer-choice.tsx';
import type { Signer, Start } from './signer-choice.tsx';
import { SignedPanel } from './signed-panel.tsx';
import type { Signed } from './signed-panel.tsx';
import { describing, TypedSummary } from './transaction-summary.tsx';

interface FormProps {
  readonly start: Start | undefined;
  readonly wallets: readonly Wallet[];
  readonly privateKeys: readonly PrivateKey[];
}

/** The outcome of a request, by the request: it is shown beside no other. */
interface Outcome {
  readonly of: string;
  readonly signed: Signed | null;
  readonly error: Error | null;
}

export function SignForm({ start, ...keys }: FormProps): ReactNode {
  const [typed, setTyped] = useDraftState('typed', '');
  const [tried, setTried] = useState(false);
  const { signer, addressFormat, fields } = useSignerChoice(start, keys, tried);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const choice = useReadingChoice(typed, signer, addressFormat);
  const options = useOptions(choice.kind, signer);
  const { request, problem } = requestOf(typed, choice.kind, choice.readings.formed, signer, options);
  const full = request === null || signer === undefined ? null : { ...request, signWith: signer.signWith };
  const sent = JSON.stringify(full);
  const description = useQuery({
    ...describing(useRpc(), full ?? {}),
    enabled: full !== null && !choice.isReading,
  });
  const signing = useSigning();

  const onType = (text: string) => {
    setTyped(text);
    setTried(false);
  };
  const send = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (full === null || signer === undefined || signing.isPending) return;
    // Nothing is signed before the person can see what the service read.
    if (description.data === undefined || description.data.description.unread !== undefined) return;
    setOutcome(null);
    signing.sign(full, signer).then(
      (signed) => {
        setOutcome({ of: sent, signed, error: null });
      },
      (error: unknown) => {
        setOutcome({
          of: sent,
          signed: null,
          error: error instanceof Error ? error : new Error(String(error)),
        });
      },
    );
  };
  const current = outcome?.of === sent && full !== null ? outcome : null;
  const wrong = choice.readings.problem ?? problem;

  return (
    <form onSubmit={send} noValidate className="kh-beside">
      <div>
        <Panel>
          <Stack gap="lg">
            {fields}
            <PayloadField
              value={typed}
              onChange={onType}
              problem={
                typed === ''
                  ? tried
                    ? t('Enter what to sign.')
                    : null
                  : choice.kind === null || tried
                    ? wrong
                    : null
              }
            />
            {typed !== '' && signer !== undefined && <ReadingChoice choice={choice} tried={tried} />}
            {options.fields}
            {full !== null && problem === null && <TypedSummary request={full} />}
            <Failure title={t('Nothing was signed')} error={current?.error ?? null} />
            <div>
              <Button type="submit" loading={signing.isPending}>
                {t('Sign')}
              </Button>
              <Text size="sm" role="status" mt="xs">
                {tried && full !== null && description.isPending && t('Read the summary, then sign.')}
              </Text>
            </div>
          </Stack>
        </Panel>
        {current?.signed != null && <SignedPanel key={current.signed.activityId} signed={current.signed} />}
      </div>
      <aside>
        <Expectations
          items={[
            signer === undefined
              ? t('Choose a key first.')
              : t('Signs with the key of {{name}}, which stays in the vault.', { name: signer.name }),
            t('The summary is read from exactly the bytes that are signed.'),
            ...(signer?.schnorr === true ? [t('This address uses Schnorr signatures (BIP-340).')] : []),
          ]}
        />
      </aside>
    </form>
  );
}

interface Options {
  /** EIP-191. */
  readonly prefixed: boolean;
  readonly hash: ReturnType<typeof hashFunctionsFor>[number] | undefined;
  readonly preimage: string;
  readonly fields: ReactNode;
}

/** The choices that a reading leaves to a person. */
function useOptions(kind: ReadingKind | null, signer: Signer | undefined): Options {
  const [prefixed, setPrefixed] = useDraftState('prefixed', true);
  const [wanted, setWanted] = useDraftState<HashFunction | null>('wanted', null);
  const [preimage, setPreimage] = useDraftState('preimage', '');
  const all = hashFunctionsFor(signer?.curve ?? 'CURVE_SECP256K1');
  const hashes = all.filter(({ id }) => (id === 'HASH_FUNCTION_NO_OP') === (kind === 'hash'));
  const usual = signer?.isEthereum === true ? 'HASH_FUNCTION_KECCAK256' : 'HASH_FUNCTION_SHA256';
  const hash = [wanted, usual, hashes[0]?.id]
    .map((each) => hashes.find(({ id }) => id === each))
    .find((each) => each !== undefined);
  const offersPrefix = kind === 'message' && signer?.isEthereum === true;
  const isPrefixed = offersPrefix && prefixed;
  const isBytes = kind === 'bytes' || (kind === 'message' && !isPrefixed);
  const fields = (
    <>
      {offersPrefix && (
        <Checkbox
          label={t('Sign as an Ethereum message (EIP-191)')}
          description={t('As Ethereum wallets do. Without the prefix, the bytes may be a transaction.')}
          checked={prefixed}
          onChange={({ currentTarget }) => {
            setPrefixed(currentTarget.checked);
          }}
        />
      )}
      {isBytes && hashes.length > 1 && (
        <Select
          label={t('Hash function')}
          data={hashes.map(({ id, label, about }) => ({ value: id, label: `${label} · ${about}` }))}
          value={hash?.id ?? null}
          allowDeselect={false}
          onChange={setWanted}
        />
      )}
      {kind === 'hash' && (
        <Textarea
          label={t('Original data (optional)')}
          description={t('In hex. The vault checks the hash and shows the content.')}
          autosize
          maxRows={8}
          spellCheck={false}
          autoComplete="off"
          className="kh-mono-input"
          value={preimage}
          onChange={onText(setPreimage)}
        />
      )}
    </>
  );
  return { prefixed: isPrefixed, hash, preimage, fields };
}

/** @returns the request of a reading; or the problem with what was typed. */
function requestOf(
  typed: string,
  kind: ReadingKind | null,
  formed: readonly FormedReading[],
  signer: Signer | undefined,
  { prefixed, hash, preimage }: Options,
): { readonly request: SignRequest | null; readonly problem: string | null } {
  if (kind === null || signer === undefined) return { request: null, problem: null };
  const ofForm = formed.find((each) => each.kind === kind);
  if (ofForm !== undefined) return { request: ofForm.request, problem: null };
  const form = kind === 'message' ? 'text' : 'hex';
  const { payload, problem, preimageProblem } = readRequest(form, hash, { typed, typedPreimage: preimage });
  if (payload === null) return { request: null, problem: problem ?? preimageProblem };
  return { request: prefixed ? ethereumMessage(typed) : payload, problem: null };
}

interface Signing {
  readonly isPending: boolean;
  /** @throws Error where nothing was signed. */
  readonly sign: (request: SignRequest & { readonly signWith: string }, signer: Signer) => Promise<Signed>;
}

function useSigning(): Signing {
  const raw = useSubmit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2');
  const transaction = useSubmit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2');
  return {
    isPending: raw.isPending || transaction.isPending,
    async sign(request, signer) {
      if ('unsignedTransaction' in request) {
        const { activity, result } = await transaction.mutateAsync(request);
        const { signedTransaction } = result;
        return { activityId: activity.id, signer, type: request.type, signedTransaction };
      }
      const { activity, result } = await raw.mutateAsync(request);
      return { activityId: activity.id, signer, signature: result };
    },
  };
}

/** Tags and the archive of a wallet: they sort the lists, and decide nothing. */
import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Group, Stack, TagsInput, Text } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { t } from '../../app/i18n/text.ts';
import { queryApi, useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import { DangerAction } from '../../ui/danger-zone.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { OppositeButtons } from '../../ui/buttons/opposite-buttons.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { useWalletSummaries } from './wallet-summaries.tsx';

export const Tags = ({ of }: { readonly of: readonly string[] }): ReactNode =>
  of.map((tag) => (
    <span key={tag} className="kh-pill" translate="no">
      {visibleName(tag)}
    </span>
  ));

/** Rows of the actions of a wallet. */
export function LabelActions({ walletId }: { readonly walletId: string }): ReactNode {
  const summaries = useWalletSummaries();
  const rpc = useRpc();
  const update = useSubmit('ACTIVITY_TYPE_UPDATE_WALLET_LABELS');
  const labels = summaries?.get(walletId);
  if (summaries === undefined || labels === undefined) return null;
  const { tags, archived } = labels;
  const used = [...new Set([...summaries.values()].flatMap((each) => each.tags))].sort((a, b) =>
    a.localeCompare(b),
  );
  const archive = (wanted: boolean) => {
    update.mutate(
      { walletId, archived: wanted },
      {
        onSuccess() {
          sayDone({
            title: wanted ? t('Wallet archived') : t('Wallet back in the lists'),
            isAsDone: async () => {
              const { walletSummaries } = await queryApi(rpc, 'list_wallet_summaries', {});
              const now = walletSummaries.find((wallet) => wallet.walletId === walletId);
              return now?.archived === wanted;
            },
            undo: () => update.mutateAsync({ walletId, archived: !wanted }),
          });
        },
      },
    );
  };
  return (
    <>
      <DangerAction
        name={t('Tags')}
        about={
          tags.length === 0 ? (
            t('Names by which you find wallets. Policies don’t use them.')
          ) : (
            <Tags of={tags} />
          )
        }
        title={t('Tags of the wallet')}
      >
        {(close) => <TagsForm walletId={walletId} tags={tags} used={used} onClose={close} />}
      </DangerAction>
      <li className="kh-row kh-manage">
        <div>
          <span className="kh-row-name">{t('Archive')}</span>
          <Text size="sm" c="dimmed">
            {archived
              ? t('Archived: left out of lists. The wallet can still sign.')
              : t('Leaves the wallet out of lists. The wallet can still sign.')}
          </Text>
          <Failure title={t('Couldn’t change the archive')} error={update.error} />
        </div>
        <Group gap="xs">
          <OppositeButtons
            isDone={archived}
            busy={update.isPending}
            does={{
              text: t('Archive'),
              act: () => {
                archive(true);
              },
            }}
            undoes={{
              text: t('Unarchive'),
              act: () => {
                archive(false);
              },
            }}
          />
        </Group>
      </li>
    </>
  );
}

interface FormProps {
  readonly walletId: string;
  readonly tags: readonly string[];
  /** Tags that wallets have. */
  readonly used: readonly string[];
  readonly onClose: () => void;
}

function TagsForm({ walletId, tags, used, onClose }: FormProps): ReactNode {
  const [chosen, setChosen] = useState<readonly string[]>(tags);
  const update = useSubmit('ACTIVITY_TYPE_UPDATE_WALLET_LABELS');
  const problem = chosen.map((tag) => nameProblem(tag)).find((each) => each !== null) ?? null;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    update.mutate({ walletId, tags: [...chosen] }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TagsInput
          label={t('Tags')}
          description={t('Enter ends a tag.')}
          data={[...used]}
          value={[...chosen]}
          onChange={(next) => {
            setChosen(next.map((tag) => tag.trim()));
          }}
          acceptValueOnBlur
          // It has the focus at once: a list that is open, or empty, would take the first Escape from the dialog.
          openOnFocus={false}
          error={problem}
          data-autofocus
          comboboxProps={{ transitionProps: { duration: 0 } }}
        />
        <FormEnd
          failed={t('Couldn’t change the tags')}
          error={update.error}
          busy={update.isPending}
          does={t('Save tags')}
          back={onClose}
        />
      </Stack>
    </form>
  );
}

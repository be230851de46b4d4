/** One field for everything: where to go, what to do, and whatever is in the vault. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Kbd, Loader, Modal, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { upTo } from '../../../main/lib/text/up-to.ts';
import { distance, matching, useCommands } from './commands.tsx';
import { useTopmost } from '../../ui/dialog/topmost.ts';
import { readable } from '../../ui/text/readable.ts';
import { activitiesOf, say } from './search-results.ts';
import { t } from '../i18n/text.ts';
import { useApiQuery } from '../rpc/vault.tsx';
import './palette.css';

interface Props {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onHelp: () => void;
  readonly onFreeze: () => void;
}

export function Palette({ opened, onClose, ...wishes }: Props): ReactNode {
  const isTopmost = useTopmost(opened);
  return (
    <Modal.Root
      opened={opened}
      onClose={() => {
        if (isTopmost()) onClose();
      }}
      size={620}
      yOffset="10vh"
      transitionProps={atOnce}
      returnFocus={false}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={t('Search and commands')} className="kh-palette">
        <Finder onClose={onClose} {...wishes} />
      </Modal.Content>
    </Modal.Root>
  );
}

/** The user types as soon as it opens. */
const atOnce = { duration: 0 } as const;

/** Something to choose, with the id of its option on the page. */
interface Choice {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly icon: Icon;
  readonly keys?: string | undefined;
  readonly run: () => void;
}

interface ChoiceGroup {
  readonly label: string;
  readonly choices: readonly Choice[];
}

/** The shortest text that the vault is searched for: one letter finds most of it. */
const shortest = 2;

/** Between the last key and the question, in milliseconds. */
const pause = 120;

/** Results of each kind that are shown. One more is asked for, which tells that there are more. */
const shownOfEach = 5;

function Finder({ onClose, ...wishes }: Omit<Props, 'opened'>): ReactNode {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  // At once, for what is typed right after the key; so the dialog itself sees too late where the focus was before.
  useLayoutEffect(() => {
    const before = document.activeElement;
    field.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const { actions, screens: places, documentation } = useCommands(wishes);
  const [asked] = useDebouncedValue(query.trim(), pause);
  const searches = asked.length >= shortest;
  const search = useApiQuery('search', searches ? { text: upTo(asked, 200), limit: shownOfEach + 1 } : null);
  const isSearched = query.trim().length >= shortest;
  const answered = searches && isSearched ? (search.data?.results ?? []) : [];
  const found = answered.filter(
    ({ kind }, index) => answered.slice(0, index).filter((each) => each.kind === kind).length < shownOfEach,
  );
  const isMore = found.length < answered.length;

  const groups: ChoiceGroup[] = [
    group(t('Go to'), listId, matching(places, query)),
    group(t('Actions'), listId, matching(actions, query)),
  ];
  // Before anything is typed, what one does stands first: where one goes is in the side bar.
  const nearest = ({ choices: [first] }: ChoiceGroup): number =>
    first === undefined ? 3 : distance(first.name, query);
  if (query.trim() === '') groups.reverse();
  else groups.sort((a, b) => nearest(a) - nearest(b));
  const commands = new Set(groups.flatMap((each) => each.choices));
  const results = [
    ...found.map((each) => ({ ...say(each), id: `${each.kind} ${each.id}` })),
    ...activitiesOf(found),
  ];
  for (const { group: label, to, id, ...said } of results) {
    const choice: Choice = {
      ...said,
      id: `${listId} ${id}`.replaceAll(/\s/g, '-'),
      run: () => {
        navigate(to);
      },
    };
    const last = groups.at(-1);
    if (last?.label === label) groups[groups.length - 1] = { label, choices: [...last.choices, choice] };
    else groups.push({ label, choices: [choice] });
  }
  if (query.trim() !== '') {
    groups.push(group(t('Documentation'), listId, matching(documentation, query)));
  }
  const shown = groups.filter(({ choices }) => choices.length > 0);
  const choices = shown.flatMap((each) => each.choices);
  const current = choices[Math.min(at, choices.length - 1)];
  const waiting = searches && search.isPending;
  /** False while the results are those of an earlier text. */
  const isCurrent = !isSearched || (asked === query.trim() && !search.isPending);

  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    choice.run();
  };
  /** Enter came before the results of its text. */
  const hasEntered = useRef(false);
  useEffect(() => {
    if (!hasEntered.current || !isCurrent) return;
    hasEntered.current = false;
    choose(current);
  });
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    // Enter and arrows of an input method choose its characters.
    if (event.nativeEvent.isComposing) return;
    hasEntered.current = false;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined && choices.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, choices.length - 1) + move + choices.length) % choices.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (isCurrent || (current !== undefined && commands.has(current))) choose(current);
      else hasEntered.current = true;
    }
  };

  return (
    <>
      <div className="kh-palette-field">
        {waiting ? <Loader size={18} aria-hidden /> : <IconSearch size={20} aria-hidden />}
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label={t('Search and commands')}
          aria-expanded="true"
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={current?.id}
          placeholder={t('Search screens, actions, names, IDs, addresses…')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={200}
          data-autofocus
          value={query}
          onChange={(event) => {
            hasEntered.current = false;
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Kbd size="xs">Esc</Kbd>
      </div>
      <div id={listId} role="listbox" aria-label={t('Results')} className="kh-palette-list" tabIndex={-1}>
        {shown.map((each) => (
          <Group key={each.label} group={each} current={current} onChoose={choose} />
        ))}
      </div>
      {choices.length === 0 && !waiting && (
        <p className="kh-palette-none">
          {t('No results. Type part of a name, or the start of an ID, address or key.')}
        </p>
      )}
      {search.error !== null && searches && (
        <p className="kh-palette-none" role="alert">
          {readable(search.error)}
        </p>
      )}
      {isMore && <p className="kh-palette-none">{t('There are more results. Type more to narrow them.')}</p>}
      <VisuallyHidden role="status">
        {waiting
          ? t('Searching')
          : isMore
            ? t('The first {{count}} results', { count: choices.length })
            : t('{{count}} results', { count: choices.length })}
      </VisuallyHidden>
    </>
  );
}

const group = (label: string, listId: string, commands: ReturnType<typeof matching>): ChoiceGroup => ({
  label,
  choices: commands.map(({ id, label: name, icon, keys, run }) => ({
    id: `${listId} ${id}`.replaceAll(/\s/g, '-'),
    name,
    detail: '',
    icon,
    keys,
    run,
  })),
});

interface GroupProps {
  readonly group: ChoiceGroup;
  readonly current: Choice | undefined;
  readonly onChoose: (choice: Choice) => void;
}

function Group({ group: { label, choices }, current, onChoose }: GroupProps): ReactNode {
  const headId = useId();
  return (
    <div role="group" aria-labelledby={headId}>
      <div id={headId} className="kh-palette-head" aria-hidden>
        {label}
      </div>
      {choices.map((choice) => (
        <Option
          key={choice.id}
          choice={choice}
          selected={choice === current}
          onChoose={() => {
            onChoose(choice);
          }}
        />
      ))}
    </div>
  );
}

interface OptionProps {
  readonly choice: Choice;
  readonly selected: boolean;
  readonly onChoose: () => void;
}

function Option({ choice, selected, onChoose }: OptionProps): ReactNode {
  const { id, name, detail, icon: Picture, keys } = choice;
  const option = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected) option.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    // The keyboard stays in the field, which says which option is meant.
    <div
      ref={option}
      id={id}
      role="option"
      aria-selected={selected}
      className="kh-palette-option"
      onMouseDown={(event) => {
        event.preventDefault();
      }}
      onClick={onChoose}
    >
      <Picture size={18} aria-hidden />
      <span className="kh-palette-name">{visibleName(name)}</span>
      <span className="kh-palette-detail">{visibleName(detail)}</span>
      {keys !== undefined && <Kbd size="xs">{keys}</Kbd>}
    </div>
  );
}

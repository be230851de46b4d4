import { useState } from 'react';
import type { ReactNode } from 'react';
import { ActionIcon, Button, Group, Select, Text, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import {
  periods,
  readBudget,
  type Budget,
  type Period,
  type Unit,
} from '../../../main/lib/policies/spenders.ts';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../../ui/on-text.ts';

const perPeriod: Readonly<Record<Period, string>> = {
  hour: t('per hour'),
  day: t('per day'),
  week: t('per week'),
};

interface Line {
  readonly amount: string;
  readonly symbol: string;
  readonly period: Period;
}

/** Parts of a coin, which a person would hardly type. */
const small: ReadonlySet<string> = new Set(['gwei', 'wei']);

interface BudgetLines {
  /** Undefined while one of them cannot be read. */
  readonly budgets: readonly Budget[] | undefined;
  /** @param tried Whether what is wrong is to be said. */
  readonly fields: (tried: boolean) => ReactNode;
}

/** Budgets of an agent, each in a coin or a token that all its networks have. */
export function useBudgetLines(units: readonly Unit[]): BudgetLines {
  const [lines, setLines] = useState<readonly Line[]>([{ amount: '5', symbol: 'USDC', period: 'day' }]);
  const symbols = units.map(({ symbol }) => symbol).filter((symbol) => !small.has(symbol));
  const budgets = lines.map(({ amount, symbol, period }) =>
    readBudget(`${amount.trim()} ${symbol}/${period}`, units),
  );
  const read = budgets.filter((budget) => budget !== undefined);
  const change = (index: number, more: Partial<Line>) => {
    setLines(lines.map((line, at) => (at === index ? { ...line, ...more } : line)));
  };
  return {
    budgets: read.length === lines.length ? read : undefined,
    fields: (tried) => (
      <div role="group" aria-label={t('Budgets')}>
        <Text size="sm" fw={600}>
          {t('Budgets')}
        </Text>
        <Text size="xs" c="dimmed" mb="xs">
          {t('The most that may leave the wallet. A coin without a budget can’t be spent.')}
        </Text>
        {lines.map(({ amount, symbol, period }, index) => {
          const number = String(index + 1);
          return (
            <Group key={index} gap="sm" align="start" wrap="nowrap" mb="xs">
              <TextInput
                aria-label={t('Amount of budget {{number}}', { number })}
                inputMode="decimal"
                autoComplete="off"
                required
                value={amount}
                error={tried && budgets[index] === undefined && t('Enter an amount above zero, such as 5.')}
                onChange={onText((text) => {
                  change(index, { amount: text });
                })}
              />
              <Select
                aria-label={t('Unit of budget {{number}}', { number })}
                data={symbols.includes(symbol) ? symbols : [...symbols, symbol]}
                value={symbol}
                attributes={{ option: { translate: 'no' } }}
                allowDeselect={false}
                error={!symbols.includes(symbol) && t('Not on all of these networks.')}
                onChange={(wanted) => {
                  change(index, { symbol: wanted ?? symbol });
                }}
              />
              <Select
                aria-label={t('Period of budget {{number}}', { number })}
                data={periods.map((value) => ({ value, label: perPeriod[value] }))}
                value={period}
                allowDeselect={false}
                onChange={(wanted) => {
                  change(index, { period: periods.find((each) => each === wanted) ?? period });
                }}
              />
              {lines.length > 1 && (
                <ActionIcon
                  variant="default"
                  size="lg"
                  aria-label={t('Remove budget {{number}}', { number })}
                  onClick={() => {
                    setLines(lines.filter((_, at) => at !== index));
                  }}
                >
                  <IconX size={16} aria-hidden />
                </ActionIcon>
              )}
            </Group>
          );
        })}
        <Button
          variant="default"
          size="xs"
          onClick={() => {
            const free = symbols.find((each) => lines.every(({ symbol }) => symbol !== each));
            setLines([...lines, { amount: '', symbol: free ?? symbols[0] ?? 'ETH', period: 'day' }]);
          }}
        >
          {t('Add budget')}
        </Button>
      </div>
    ),
  };
}

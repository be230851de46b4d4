import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Api } from '../shared/api.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { readAccount } from './account-options.ts';
import { accountSeries } from './default-accounts.ts';
import { addPlaced } from './new-wallets.ts';

/** A vault in which another client takes the index that was just named as free, so many times. */
class ContestedVault {
  readonly taken = new Set<string>();
  #contests: number;

  constructor(contests: number) {
    this.#contests = contests;
  }

  readonly query = (_: string, __: unknown, { path, from = 0 }: { path: string; from?: number }) => {
    let index = from;
    while (this.taken.has(path.replace('{i}', String(index)))) index++;
    if (this.#contests-- > 0) this.taken.add(path.replace('{i}', String(index)));
    return Promise.resolve({ index });
  };

  readonly submit = (_: unknown, { accounts }: { accounts: readonly { path: string }[] }) => {
    if (accounts.some(({ path }) => this.taken.has(path))) {
      const details = { code: 6, turnkeyErrorCode: 'REQUEST_INVALID' };
      return Promise.reject(new CommandError(exitCodes.failed, 'path already exists', details));
    }
    for (const { path } of accounts) this.taken.add(path);
    return Promise.resolve({ addresses: accounts.map(({ path }) => path) });
  };
}

const add = (vault: ContestedVault, ...named: readonly string[]) =>
  addPlaced(vault as unknown as Api, 'w', named.map(readAccount));

describe('an index that another client takes first', () => {
  test('is left for the next one', async () => {
    const { addresses } = await add(new ContestedVault(3), 'ethereum', 'ethereum');
    expect(addresses).toEqual(["m/44'/60'/0'/0/3", "m/44'/60'/0'/0/4"]);
  });

  test('is an error where it was named', async () => {
    const vault = new ContestedVault(0);
    await add(vault, 'ethereum:1');
    await expect(add(vault, 'ethereum:1')).rejects.toThrow('path already exists');
    await expect(add(vault, 'ethereum', 'ethereum:1')).rejects.toThrow('path already exists');
  });

  test('is an error in the end, where every index is taken first', async () => {
    await expect(add(new ContestedVault(1000), 'ethereum')).rejects.toThrow('path already exists');
  });
});

test('the page that errors name lists the name of each chain', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/wallets.md'), 'utf8');
  const names = [...accountSeries.keys()].filter((name) => !/^bitcoin-\w+-p2\w+$/.test(name));
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

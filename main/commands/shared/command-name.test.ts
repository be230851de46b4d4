import { afterEach, describe, expect, test } from 'vitest';
import { takeLauncher } from '../../app/config.ts';
import { nameCommand, namingCommand } from './command-name.ts';

afterEach(() => {
  nameCommand();
});

// The class: a command that is printed in a checkout runs nothing, or another program of that name, where it is pasted.
describe('the command in what is printed', () => {
  const text = [
    'there is no vault: create one with `keyhearth init`',
    '    keyhearth approvals approve 1',
    'Test it: keyhearth messages test mail ADDRESS',
    'Usage: keyhearth [options] [command]',
    'keyhearth: the vault is locked',
    'a wallet called keyhearth savings, and /home/keyhearth is a directory',
  ];
  const named = (name: string): string => {
    nameCommand(name);
    return namingCommand(text.join('\n'));
  };

  test.each([
    ['./keyhearth', './keyhearth'],
    ['../the clone/keyhearth', "'../the clone/keyhearth'"],
    ['.\\keyhearth.cmd', '.\\keyhearth.cmd'],
  ])('is %j as it was typed', (typed, said) => {
    const [first, second, third, usage, ...rest] = named(typed).split('\n');
    expect([first, second, third, usage]).toEqual([
      `there is no vault: create one with \`${said} init\``,
      `    ${said} approvals approve 1`,
      `Test it: ${said} messages test mail ADDRESS`,
      `Usage: ${said} [options] [command]`,
    ]);
    expect(rest).toEqual(text.slice(4));
  });

  test.each([[''], ['rm -rf /'], ["x'y/keyhearth"], ['a\n/keyhearth'], ['/usr/bin/node']])(
    'is the product where %j says that it was started',
    (typed) => {
      expect(named(typed)).toBe(text.join('\n'));
    },
  );

  test('is not passed on to what the command starts', () => {
    const environment = { KEYHEARTH_LAUNCHED_AS: './keyhearth', OTHER: '1' };
    expect(takeLauncher(environment)).toBe('./keyhearth');
    expect(environment).toEqual({ OTHER: '1' });
  });
});

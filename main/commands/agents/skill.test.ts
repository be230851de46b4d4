/**
 * The skill that teaches an agent. The classes: a tool that it does not name, a call that a tool does not take, a front matter that
 * an agent does not read. `test/commands/agents.test.ts` makes the calls.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentTools, serverNote } from '../../lib/text/agent-tools.ts';
import { skillOf } from './skill.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/agents.md'), 'utf8');

test('the skill has a front matter that agents read', () => {
  const [, name = '', description = ''] =
    /^---\nname: (.+)\ndescription: (.+)\n---\n\n# /.exec(skillOf(page)) ?? [];
  expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  expect(description.length).toBeGreaterThan(50);
  expect(description.length).toBeLessThanOrEqual(1024);
  // A colon and a space, or a sharp, would end the text in YAML.
  expect(description).not.toMatch(/: | #|^[-?:,[\]{}#&*!|>'"%@`]/);
});

test('it has the words of the server, of each tool and of the page', () => {
  const skill = skillOf(page);
  expect(skill).toContain(serverNote);
  for (const [name, { description, example }] of Object.entries(agentTools)) {
    const section = skill.split('\n### ').find((each) => each.startsWith(`${name}\n`)) ?? '';
    expect(section).toContain(description);
    expect(JSON.parse(/```json\n([^]*?)\n```/.exec(section)?.[1] ?? '')).toEqual(example);
  }
  expect(skill).toContain('An approval and a permit count in full');
});

test('a page without its sections writes no skill', () => {
  expect(() => skillOf('# Agents\n')).toThrow('no section Budgets');
});

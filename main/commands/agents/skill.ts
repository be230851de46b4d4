/**
 * `keyhearth agents skill`: a SKILL.md, as agents read it. Its texts are those of the tools and of the page about agents, so an
 * agent reads what its owner reads. It needs no vault.
 */
import { agentTools, serverNote } from '../../lib/text/agent-tools.ts';
import type { Config } from '../../app/config.ts';
import { textOfPage } from '../docs/docs.ts';
import { print } from '../shared/output.ts';

/** The sections of the page that an agent needs. The others tell its owner how to set it up. */
const sections = ['Budgets', 'Answers'];

export async function printSkill(config: Config, json: boolean): Promise<void> {
  const text = skillOf(await textOfPage(config, 'agents'));
  print(json, { text }, text.trimEnd());
}

/** @param page The page about agents. @throws Error where it has no such section. */
export function skillOf(page: string): string {
  const ofPage = sections.map((title) => {
    const section = page.split(/^(?=## )/m).find((each) => each.startsWith(`## ${title}\n`));
    if (section === undefined) throw new Error(`the page about agents has no section ${title}`);
    return section.trim();
  });
  const tools = Object.entries(agentTools).map(([name, { title, description, example }]) =>
    [`### ${name}`, `${title}. ${description}`, fenced(JSON.stringify(example, null, 2))].join('\n\n'),
  );
  return `${[
    ['---', 'name: keyhearth', `description: ${about}`, '---'].join('\n'),
    '# Keyhearth',
    serverNote,
    '## Tools',
    'Call them on the MCP server whose name begins with `keyhearth-`. Each example has the arguments of a call. Replace its addresses and numbers by your own.',
    ...tools,
    ...ofPage,
  ].join('\n\n')}\n`;
}

const about =
  'Pays and signs on Ethereum and chains like it, within budgets that the owner of a Keyhearth vault set. Use when a task needs a payment, a transfer of tokens, a permit, or a signed text.';

const fenced = (text: string): string => ['```json', text, '```'].join('\n');

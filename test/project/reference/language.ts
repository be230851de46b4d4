/** The reference of the policy language, from the description that the service gives of it, with the tried examples. */
import { describeLanguage } from '../../../main/policy/language/language.ts';
import { examples } from './language-examples.ts';
import type { WrittenPage } from './commands.ts';
import { code, inText, pageText, table } from './markdown.ts';

export function languagePages(): readonly WrittenPage[] {
  const { places, types, methods } = describeLanguage();
  const exampleOf = (of: string): string => {
    const found = examples.find((each) => each.of === of);
    return found === undefined ? '' : `${code(found.source)} (${found.text})`;
  };
  const named = new Set([
    ...places.flatMap(({ keywords, functions }) => [...keywords, ...functions].map(({ name }) => name)),
    ...methods.map(({ name }) => `.${name}`),
  ]);
  const operators = examples.filter(({ of }) => !named.has(of));
  const language = pageText(
    'Policy language',
    'A policy has up to three expressions: `condition`, `consensus` and `time`. Each is true or false. The examples are evaluated by the tests, and each is true of one activity. [Policies and budgets](../policies.md) says how policies decide, and [Policy types](policy-types.md) lists the fields of each type.',
    ...places.map(({ field, keywords, functions }) =>
      [
        `## In ${field}`,
        table(
          ['keyword', 'type', 'example'],
          keywords.map(({ name, type }) => [code(name), code(type), exampleOf(name)]),
        ),
        table(
          ['function', 'example'],
          functions.map(({ name, usage }) => [code(usage), exampleOf(name)]),
        ),
      ].join('\n\n'),
    ),
    '## Methods of lists',
    table(
      ['method', 'meaning', 'example'],
      methods.map(({ name, usage, about }) => [code(usage), inText(about), exampleOf(`.${name}`)]),
    ),
    '## Operators',
    table(
      ['operator', 'example'],
      operators.map(({ of }) => [code(of), exampleOf(of)]),
    ),
  );
  const typesPage = pageText(
    'Policy types',
    'The fields of each type of the [policy language](policy-language.md). A field that an activity lacks does not apply.',
    ...types.map(({ name, fields }) =>
      [
        `## ${name}`,
        fields.map((field) => `${code(field.name)} ${inText(field.type)}`).join(', ') + '.',
      ].join('\n\n'),
    ),
  );
  return [
    { path: 'reference/policy-language', title: 'Policy language', text: language },
    { path: 'reference/policy-types', title: 'Policy types', text: typesPage },
  ];
}

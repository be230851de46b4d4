import { cloneElement, createElement, Fragment } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { countOf, filled, translated } from './text.ts';
import type { TextValues } from './text.ts';

interface Props {
  readonly i18nKey: string;
  /** By the names of the tags. */
  readonly components: Readonly<Record<string, ReactElement>>;
  readonly values?: TextValues;
  readonly count?: number;
}

/** A text with links and other components in it. A tag without a component stays text, and so does a tag in a value. */
export function Trans({ i18nKey, components, values = {}, count }: Props): ReactElement {
  const all = count === undefined ? values : { ...values, count };
  const parts = translated(i18nKey, countOf(all)).split(/(<\/?\w+\/?>)/);
  return createElement(Fragment, null, ...inside(null));

  /** Takes parts up to the end of the tag. */
  function inside(tag: string | null): ReactNode[] {
    const nodes: ReactNode[] = [];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      if (part === `</${String(tag)}>`) break;
      const { name = '', alone } = /^<(?<name>\w+)(?<alone>\/)?>$/.exec(part)?.groups ?? {};
      const component = Object.hasOwn(components, name) ? components[name] : undefined;
      if (component === undefined) nodes.push(filled(part, all));
      else nodes.push(cloneElement(component, {}, ...(alone === undefined ? inside(name) : [])));
    }
    return nodes;
  }
}

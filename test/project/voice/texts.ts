// Reads the texts for people out of the project's files: comments, names of tests, texts of commands and the window, Markdown.
import { fromMarkdown } from 'mdast-util-from-markdown';
import ts from 'typescript';
import type { Kind } from './patterns.ts';

export interface Text {
  readonly kind: Kind;
  /** From 1. */
  readonly line: number;
  /** On one line, without the marks around it. */
  readonly text: string;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const words = (comment: string): string =>
  oneLine(comment.replaceAll(/^\s*(\/\/+|\/\*+|\*(?!\/))|\*\/\s*$/gm, ' '));

/** Comments that instruct a tool. */
const directive = /^(oxlint-|oxfmt-|@ts-|@__|v8 |@type )/;

/** @returns each comment. Line comments below each other are one. */
export function commentsOf(source: ts.SourceFile): Text[] {
  const { text } = source;
  const ranges = new Map<number, ts.CommentRange>();
  const jsxTexts: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.JsxText) {
      jsxTexts.push(node);
      return;
    }
    const children = node.getChildren(source).filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc);
    for (const child of children) visit(child);
    if (children.length > 0) return;
    const around = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ];
    for (const range of around) ranges.set(range.pos, range);
  };
  visit(source);
  const found: { pos: number; end: number; kind: ts.CommentKind }[] = [];
  // Text of JSX may read like a comment: `https://`.
  const isComment = ({ pos }: ts.CommentRange): boolean =>
    !jsxTexts.some((node) => node.pos <= pos && pos < node.end);
  for (const range of [...ranges.values()].filter(isComment).sort((a, b) => a.pos - b.pos)) {
    const last = found.at(-1);
    const isLine = range.kind === ts.SyntaxKind.SingleLineCommentTrivia;
    if (last?.kind === range.kind && isLine && /^\r?\n[ \t]*$/.test(text.slice(last.end, range.pos))) {
      last.end = range.end;
    } else found.push({ ...range });
  }
  return found
    .map(({ pos, end }) => ({
      kind: 'comment' as const,
      line: source.getLineAndCharacterOfPosition(pos).line + 1,
      text: words(text.slice(pos, end)),
    }))
    .filter((each) => !directive.test(each.text));
}

const testCalls = new Set(['describe', 'it', 'test']);

/** @returns the names of tests. */
export const testNamesOf = (source: ts.SourceFile): Text[] =>
  literalsOf(source, 'test name', ({ parent, pos }) => {
    if (!ts.isCallExpression(parent) || parent.arguments[0]?.pos !== pos) return false;
    const [callee = ''] = parent.expression.getText(source).split(/[.(]/);
    return testCalls.has(callee);
  });

/** @returns the string literals that hold more than one word. */
export const sentencesOf = (source: ts.SourceFile): Text[] => literalsOf(source, 'text', () => true);

function literalsOf(source: ts.SourceFile, kind: Kind, isWanted: (node: ts.Node) => boolean): Text[] {
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    const literal = literalText(node);
    if (literal?.includes(' ') === true && isWanted(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push({ kind, line: line + 1, text: oneLine(literal) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** @returns the text of a string or template, with dots for each expression in it. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('…');
}

/** @returns the values of a file of texts in JSON, one on each line. */
export function localeTextsOf(json: string): Text[] {
  const texts = Object.values(JSON.parse(json) as Readonly<Record<string, string>>);
  return texts.map((text, index) => ({ kind: 'text', line: index + 2, text }));
}

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly position?: { readonly start: { readonly line: number } } | undefined;
}

const blocks = new Set(['paragraph', 'heading']);

/** @returns the paragraphs and headings of a Markdown file, without code. A table is one paragraph. */
export function markdownTextsOf(markdown: string): Text[] {
  const proseOf = ({ type, value = '', children = [] }: Node): string =>
    type === 'inlineCode' || type === 'html'
      ? '`code`'
      : type === 'break'
        ? ' '
        : value + children.map(proseOf).join('');
  const textsIn = (node: Node): Text[] =>
    blocks.has(node.type)
      ? [{ kind: 'paper', line: node.position?.start.line ?? 1, text: oneLine(proseOf(node)) }]
      : (node.children ?? []).flatMap(textsIn);
  return textsIn(fromMarkdown(markdown));
}

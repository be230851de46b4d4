// Phrases that Keyhearth does not use, in any text that a person reads.

/** Where a text stands. Texts of the window and of the command are `text`, Markdown is `paper`. */
export type Kind = 'comment' | 'test name' | 'text' | 'paper';

export interface Pattern {
  readonly name: string;
  readonly phrase: RegExp;
  /** Completes the report: what to write instead. */
  readonly instead: string;
  /** The pattern finds the first example and accepts the second. */
  readonly bad: string;
  readonly good: string;
  /** Only these; all kinds without it. */
  readonly kinds?: readonly Kind[];
}

export const patterns: readonly Pattern[] = [
  {
    name: 'whoever',
    phrase: /\bwho(m|so)?ever\b/i,
    instead: 'name the actor: the caller, a client, the owner',
    bad: 'Whoever awaits it comes after the keys are gone.',
    good: 'Await only after the keys are erased.',
  },
  {
    name: 'nobody',
    phrase: /\b(no|some|any|every)body\b/i,
    instead: 'name the actor: no caller, another process, every client',
    bad: 'Where news go that nobody waits for.',
    good: 'Sink for background failures that no caller awaits.',
  },
  {
    name: 'is told',
    phrase: /\b(is|are|was|were|be|been|being) told\b/i,
    instead: 'say who receives, shows or reports it',
    bad: 'What is to be signed is told by no notification.',
    good: 'Notifications never show what is being signed.',
  },
  {
    name: 'of then',
    phrase: /\bof (then|before)\b/i,
    instead: 'say which: the earlier format, the state at the last start',
    bad: 'The rows of then are adopted.',
    good: 'Rows of the earlier format are adopted.',
  },
  {
    name: 'any more',
    phrase: /\bany ?more\b/i,
    instead: 'write "no longer", or what is true now',
    bad: 'The vault is not open any more.',
    good: 'The vault is no longer open.',
  },
  {
    name: 'no more',
    phrase: /\bno more\b(?=[.,:;!?)]|$| (and|or|but|when|once|by|until|in|on)\b)/i,
    instead: 'write "no longer", "stops", or the bound',
    bad: 'This password opens the vault no more.',
    good: 'This password stops working. No more data arrives.',
  },
  {
    name: 'takes no',
    phrase: /\b(takes?|took|taking) no\b(?! longer\b)/i,
    instead: 'write that it accepts, needs or uses none',
    bad: 'Two endpoints take no events.',
    good: 'Two endpoints do not accept events.',
  },
  {
    name: 'is no',
    phrase: /(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b|such\b)\w+/i,
    instead: 'write "is not a"',
    bad: 'A text that is no number is refused.',
    good: 'A text that is not a number is refused. There is no default.',
  },
  {
    name: 'clause for a noun',
    phrase: /^(What|Whether|Who|Whose|Which)\b(?![^.]*\?)/,
    instead: 'begin with the subject, or with a verb for a function',
    bad: 'Whether anything may be served now.',
    good: 'True while deliveries may start.',
    kinds: ['comment'],
  },
  {
    name: 'draw',
    phrase:
      /\b(draws?|drawn|drew|drawing)\b(?! (a |an |the |its |one |each )?(picture|box|line|frame|chart|bar|icon))/i,
    instead: 'write "generate", "choose at random" or "render"',
    bad: 'A seed of 12 words is drawn on this computer.',
    good: 'A 12-word seed is generated on this computer.',
  },
  {
    name: 'is made',
    phrase: /\b(is|are|was|were|be|been|being) made\b(?! (up|of|from|public|available|visible)\b)/i,
    instead:
      'write "created", "generated", "built" or the verb of the noun: "decides" for "a decision is made"',
    bad: 'A new key is made.',
    good: 'A new key is created. Rows are made of columns.',
  },
  {
    name: 'came of',
    phrase: /\b(came|comes?|became|becomes?|become) of\b/i,
    instead: 'write "result" or "outcome"',
    bad: 'What became of each delivery.',
    good: 'The result of each delivery.',
  },
  {
    name: 'goes over',
    phrase: /\bgo(es)? over\b/i,
    instead: 'name the transfer: "is sent through", "is copied to"',
    bad: 'The file goes over in parts.',
    good: 'The file is sent in parts.',
  },
  {
    name: 'in vain',
    phrase: /\bin vain\b/i,
    instead: 'write what failed',
    bad: 'A try in vain counts.',
    good: 'A failed attempt counts.',
  },
  {
    name: 'anew',
    phrase: /\banew\b/i,
    instead: 'write "again" or "a new …"',
    bad: 'The page is read anew.',
    good: 'The page is read again.',
  },
  {
    name: 'rightly',
    phrase: /\b(rightly|wrongly)\b/i,
    instead: 'write "correctly" or "incorrectly"',
    bad: 'The words were written down rightly.',
    good: 'The words were written down correctly.',
  },
  {
    name: 'mend',
    phrase: /\bmend(s|ed|ing)?\b/i,
    instead: 'write "fix" or "repair"',
    bad: 'Mend what is underlined.',
    good: 'Fix the underlined errors.',
  },
  {
    name: 'em dash',
    phrase: /—/,
    instead: 'write two sentences, or a colon',
    bad: 'The vault locks — and the keys are erased.',
    good: 'The vault locks. The keys are erased.',
    kinds: ['comment', 'test name', 'paper'],
  },
];

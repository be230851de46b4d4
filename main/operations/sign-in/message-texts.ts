/**
 * The messages that bring people their one-time codes and credentials, and what requests may say about their looks.
 * What a request brings is foreign text: it has no say in the markup, the headers, what a link does, or what stands around it.
 */
import { z } from 'zod';
import { defined } from '../../lib/defined.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import { isThisMachine } from '../../lib/network.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { name } from '../shared/parameters.ts';

const longestUrl = 2048;
const longestSms = 600;
const longestVariables = 10_000;

const unset = z.literal('');

/** Schemes that a browser runs or shows by itself, instead of opening what they point to. */
const refusedSchemes = ['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'];

/** The place of the code or bundle in a link, as the real API marks it. */
const linkSlot = '%s';
/** The Go template of the real API, with the one field that it knows. */
const codeSlot = /\{\{\s*\.OtpCode\s*\}\}/g;

const logoUrl = z
  .union([
    unset,
    z
      .string()
      .max(longestUrl)
      .refine((text) => URL.parse(text)?.protocol === 'https:', 'Expected a URL that begins with https://'),
  ])
  .optional();

const magicLinkTemplate = z
  .union([
    unset,
    z
      .string()
      .max(longestUrl)
      .refine(
        (text) => text.split(linkSlot).length === 2 && !text.trimStart().startsWith(linkSlot),
        'Expected a URL with %s once, where the code goes: https://example.com/sign-in?code=%s',
      )
      .refine(
        isLink,
        'Expected the URL of a page or an app, with a scheme like https:; http: is for this machine alone',
      ),
  ])
  .optional();

function isLink(text: string): boolean {
  const url = URL.parse(text.replace(linkSlot, 'code'));
  if (url === null || refusedSchemes.includes(url.protocol)) return false;
  // It carries a credential, which anyone on the network path could read.
  return url.protocol !== 'http:' || isThisMachine(url.hostname);
}

const isJsonObject = (text: string): boolean => {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/** The name that a message gives the application. */
export const appName = name;

/**
 * The look of a mail. The real service keeps templates; here their id and variables are accepted and ignored.
 */
export const emailCustomization = z.object({
  logoUrl,
  magicLinkTemplate,
  templateVariables: z
    .union([
      unset,
      z.string().max(longestVariables).refine(isJsonObject, 'Expected a JSON object, written as a string'),
    ])
    .optional(),
  templateId: z.string().max(100).optional(),
});

/** Of versions whose mail names the application here; some of them require it. */
export const namedEmailCustomization = emailCustomization.extend({
  appName: z.union([unset, appName]).optional(),
});

export const smsCustomization = z.object({
  template: z
    .union([
      unset,
      z
        .string()
        .max(longestSms)
        .refine((text) => text.isWellFormed(), 'Expected Unicode text, without half of a surrogate pair')
        .refine((text) => text.search(codeSlot) >= 0, 'Expected {{.OtpCode}} where the code goes')
        .refine((text) => !text.replace(codeSlot, '').includes('{{'), 'Expected no field but {{.OtpCode}}'),
    ])
    .optional(),
});

const address = z.union([unset, z.email('Expected an email address').max(254)]).optional();

/** Whom a mail is to come from, where the vault's mail settings allow that. */
export const senderParams = z.object({
  sendFromEmailAddress: address,
  sendFromEmailSenderName: z.union([unset, name]).optional(),
  replyToEmailAddress: address,
});

/**
 * The parts of a request's parameters that concern the message. The parameters themselves are accepted too.
 */
export interface MessageWishes {
  readonly appName?: string | undefined;
  readonly emailCustomization?: z.output<typeof namedEmailCustomization> | undefined;
  readonly smsCustomization?: z.output<typeof smsCustomization> | undefined;
  readonly sendFromEmailAddress?: string | undefined;
  readonly sendFromEmailSenderName?: string | undefined;
  readonly replyToEmailAddress?: string | undefined;
}

interface Letter {
  readonly to: string;
  /** Of the organization whose vault sends it; it stands for the application where that has no name. */
  readonly organizationName: string;
  /** Milliseconds, by the clock that `expiresAt` is of. */
  readonly now: number;
  readonly expiresAt: number;
  readonly wishes: MessageWishes;
}

/** The message that brings a one-time code. */
export function oneTimeCodeMessage(
  letter: Letter & { readonly channel: OutgoingMessage['channel']; readonly code: string },
): OutgoingMessage {
  const { channel, code, wishes } = letter;
  const app = appOf(letter);
  const lasts = lifetime(letter);
  if (channel === 'sms') {
    const template = given(wishes.smsCustomization?.template);
    const text =
      template === undefined
        ? `${code} is your code for ${app}. It works once, for ${lasts}.`
        : // A function, so that no character of the code means anything.
          template.replace(codeSlot, () => code);
    return { channel, to: letter.to, subject: '', text, code, expiresAt: letter.expiresAt };
  }
  return mail(letter, code, {
    subject: `Your sign-in code for ${app}`,
    intro: `Here is your code for ${app}:`,
    note: `It works once, for ${lasts}.`,
    caution: 'If you did not ask for it, ignore this message, and give the code to nobody.',
    button: `Sign in to ${app}`,
  });
}

const credentialTexts = {
  signIn: (app: string) => ({
    subject: `Sign in to ${app}`,
    intro: `Paste this into ${app} to sign in:`,
    caution: 'If you did not ask for it, ignore this message: only the device that asked can use it.',
    button: `Sign in to ${app}`,
  }),
  recovery: (app: string) => ({
    subject: `Recover your access to ${app}`,
    intro: `Paste this into ${app} to recover your access:`,
    caution:
      'If you did not ask for it, somebody may be trying to take over your access: pass this to nobody, and tell the owner of the vault.',
    button: `Recover your access to ${app}`,
  }),
};

/** The mail that brings a credential, encrypted to the device that asked for it. */
export function credentialMessage(
  letter: Letter & { readonly purpose: keyof typeof credentialTexts; readonly bundle: string },
): OutgoingMessage {
  return mail(letter, letter.bundle, {
    ...credentialTexts[letter.purpose](appOf(letter)),
    note: `It works for ${lifetime(letter)}.`,
  });
}

interface MailTexts {
  readonly subject: string;
  readonly intro: string;
  readonly note: string;
  readonly caution: string;
  readonly button: string;
}

function mail(letter: Letter, code: string, texts: MailTexts): OutgoingMessage {
  const { wishes, to, expiresAt } = letter;
  const link = linkOf(wishes, code);
  const foot = `Sent by the key vault of ${visibleName(letter.organizationName)}.`;
  const parts = [
    texts.intro,
    code,
    ...(link === undefined ? [] : [`Or open this link: ${link}`]),
    texts.note,
    texts.caution,
    foot,
  ];
  const from = senderOf(wishes);
  const replyTo = given(wishes.replyToEmailAddress);
  return {
    channel: 'email',
    to,
    subject: texts.subject,
    text: `${parts.join('\n\n')}\n`,
    html: page({ ...texts, code, foot, link, logo: given(wishes.emailCustomization?.logoUrl) }),
    code,
    ...defined({ from, replyTo }),
    expiresAt,
  };
}

/** The real API's name for who sends from an address of the caller's. */
const defaultSenderName = 'Notifications';

function senderOf(wishes: MessageWishes): OutgoingMessage['from'] {
  const sender = given(wishes.sendFromEmailAddress);
  const named = given(wishes.sendFromEmailSenderName);
  const senderName = named === undefined ? undefined : visibleName(named);
  if (sender === undefined) return senderName === undefined ? undefined : { name: senderName };
  return { address: sender, name: senderName ?? defaultSenderName };
}

function linkOf(wishes: MessageWishes, code: string): string | undefined {
  const template = given(wishes.emailCustomization?.magicLinkTemplate);
  const link = template?.replace(linkSlot, () => encodeURIComponent(code));
  // As a browser reads it: a name in other letters shows that it is, and nothing is hidden.
  return link === undefined || /^[!-~]*$/.test(link) ? link : URL.parse(link)?.href;
}

/** Mail programs know little CSS, and show nothing of a style sheet: every rule is in its element. */
function page(
  content: MailTexts & {
    readonly code: string;
    readonly foot: string;
    readonly link: string | undefined;
    readonly logo: string | undefined;
  },
): string {
  const text = 'font-family:sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a;margin:0 0 16px';
  const small = 'font-family:sans-serif;font-size:13px;line-height:1.5;color:#5c5c5c;margin:0 0 8px';
  const code =
    'font-family:monospace;font-size:24px;line-height:1.4;color:#1a1a1a;margin:0 0 16px;overflow-wrap:anywhere';
  const button =
    'font-family:sans-serif;font-size:16px;color:#ffffff;background:#1f5fbf;border-radius:6px;padding:10px 18px;text-decoration:none;display:inline-block';
  const paragraph = (style: string, inside: string): string => `<p style="${style}">${inside}</p>`;
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(content.subject)}</title></head>`,
    '<body style="margin:0;padding:24px;background:#ffffff">',
    ...(content.logo === undefined
      ? []
      : [
          paragraph(
            text,
            `<img src="${escaped(content.logo)}" alt="" style="max-width:340px;max-height:124px;border:0">`,
          ),
        ]),
    paragraph(text, escaped(content.intro)),
    paragraph(code, `<strong>${escaped(content.code)}</strong>`),
    ...(content.link === undefined
      ? []
      : [
          paragraph(
            text,
            `<a href="${escaped(content.link)}" style="${button}">${escaped(content.button)}</a>`,
          ),
        ]),
    paragraph(text, escaped(content.note)),
    paragraph(small, escaped(content.caution)),
    paragraph(small, escaped(content.foot)),
    '</body></html>',
    '',
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const appOf = ({ wishes, organizationName }: Letter): string =>
  visibleName(given(wishes.appName) ?? given(wishes.emailCustomization?.appName) ?? organizationName);

/** Some clients write an empty text where they mean none. */
const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

const units = [
  { name: 'hour', seconds: 3600 },
  { name: 'minute', seconds: 60 },
  { name: 'second', seconds: 1 },
];

/** In the largest unit that says it exactly: "5 minutes", "90 seconds". */
function lifetime({ now, expiresAt }: Letter): string {
  const seconds = Math.max(1, Math.round((expiresAt - now) / 1000));
  const unit = units.find((candidate) => seconds % candidate.seconds === 0);
  const count = seconds / (unit?.seconds ?? 1);
  return `${String(count)} ${unit?.name ?? 'second'}${count === 1 ? '' : 's'}`;
}

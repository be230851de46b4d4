import { describe, expect, test } from 'vitest';
import { parse } from '../../lib/parse.ts';
import {
  credentialMessage,
  emailCustomization,
  namedEmailCustomization,
  oneTimeCodeMessage,
  senderParams,
  smsCustomization,
} from './message-texts.ts';

const letter = { to: 'ada@example.com', organizationName: 'Analytical', now: 1000, expiresAt: 301_000 };
const code = 'AB12CD34E';

describe('a one-time code', () => {
  test('goes as text and HTML, with what it is for and how long it works', () => {
    const message = oneTimeCodeMessage({ ...letter, channel: 'email', code, wishes: { appName: 'Engine' } });
    expect(message).toMatchObject({
      channel: 'email',
      to: 'ada@example.com',
      subject: 'Your sign-in code for Engine',
      code,
      expiresAt: 301_000,
    });
    for (const body of [message.text, message.html]) {
      expect(body).toContain(code);
      expect(body).toContain('for 5 minutes');
      expect(body).toContain('Engine');
      expect(body).toContain('Analytical');
    }
    // Subjects are written to the logs of mail servers.
    expect(message.subject).not.toContain(code);
    expect(message).not.toHaveProperty('from');
    expect(message).not.toHaveProperty('replyTo');
  });

  test.each([
    [301_000, '5 minutes'],
    [61_000, '1 minute'],
    [91_000, '90 seconds'],
    [2000, '1 second'],
    [7_201_000, '2 hours'],
  ])('until %d lasts %s', (expiresAt, words) => {
    const { text } = oneTimeCodeMessage({ ...letter, expiresAt, channel: 'sms', code, wishes: {} });
    expect(text).toBe(`${code} is your code for Analytical. It works once, for ${words}.`);
  });

  test('names the application as its version of the request does, and takes an empty name for none', () => {
    const subjectWith = (wishes: object): string =>
      oneTimeCodeMessage({ ...letter, channel: 'email', code, wishes }).subject;
    expect(subjectWith({ emailCustomization: { appName: 'Older' } })).toContain('Older');
    expect(subjectWith({ appName: '', emailCustomization: { appName: '' } })).toContain('Analytical');
  });

  test('takes the place of the template’s field, whatever it is made of', () => {
    const wishes = { smsCustomization: { template: 'Your code: {{.OtpCode}}; again {{ .OtpCode }}' } };
    expect(oneTimeCodeMessage({ ...letter, channel: 'sms', code: '$&12', wishes }).text).toBe(
      'Your code: $&12; again $&12',
    );
  });

  test('is part of a link, encoded', () => {
    const wishes = { emailCustomization: { magicLinkTemplate: 'https://app.example/in?code=%s&a="b"' } };
    const { text, html } = oneTimeCodeMessage({ ...letter, channel: 'email', code: 'a b/$&', wishes });
    expect(text).toContain('https://app.example/in?code=a%20b%2F%24%26&a="b"');
    expect(html).toContain('href="https://app.example/in?code=a%20b%2F%24%26&amp;a=&quot;b&quot;"');
  });

  test('has foreign text in its HTML as text', () => {
    const wishes = {
      appName: '<img src=x onerror="alert(1)">',
      emailCustomization: { logoUrl: 'https://logo.example/a.png?"><script>' },
    };
    const { html } = oneTimeCodeMessage({ ...letter, channel: 'email', code, wishes });
    expect(html).not.toContain('<img src=x');
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;');
  });
});

test('a credential goes by mail, in words for what it is', () => {
  const signIn = credentialMessage({ ...letter, purpose: 'signIn', bundle: 'bundle', wishes: {} });
  const recovery = credentialMessage({ ...letter, purpose: 'recovery', bundle: 'bundle', wishes: {} });
  expect(signIn).toMatchObject({ channel: 'email', subject: 'Sign in to Analytical', code: 'bundle' });
  expect(signIn.text).toContain('bundle');
  expect(recovery.subject).toBe('Recover your access to Analytical');
  expect(recovery.html).toContain('bundle');
});

test('a mail comes from whom the request says', () => {
  const sent = (wishes: object) => oneTimeCodeMessage({ ...letter, channel: 'email', code, wishes });
  expect(sent({ sendFromEmailAddress: 'a@b.example', replyToEmailAddress: 'c@b.example' })).toMatchObject({
    from: { address: 'a@b.example', name: 'Notifications' },
    replyTo: 'c@b.example',
  });
  expect(sent({ sendFromEmailSenderName: 'Ada' }).from).toEqual({ name: 'Ada' });
  expect(sent({ sendFromEmailAddress: '', replyToEmailAddress: '' })).not.toHaveProperty('from');
});

describe('what requests may ask for', () => {
  test.each([
    [emailCustomization, { logoUrl: 'http://logo.example/a.png' }, /logoUrl: .*https/],
    [emailCustomization, { magicLinkTemplate: 'https://app.example/' }, /magicLinkTemplate: .*%s once/],
    [emailCustomization, { magicLinkTemplate: 'https://app.example/%s/%s' }, /magicLinkTemplate: .*%s once/],
    [emailCustomization, { magicLinkTemplate: 'javascript:alert("%s")' }, /magicLinkTemplate: .*scheme/],
    [emailCustomization, { magicLinkTemplate: ' JavaScript:alert("%s")' }, /magicLinkTemplate: .*scheme/],
    // 10: a link carries a credential, which anyone on the network path could read.
    [emailCustomization, { magicLinkTemplate: 'http://app.example/%s' }, /magicLinkTemplate: .*this machine/],
    [
      emailCustomization,
      { magicLinkTemplate: 'http://localhost.example/%s' },
      /magicLinkTemplate: .*machine/,
    ],
    [emailCustomization, { magicLinkTemplate: '/relative/%s' }, /magicLinkTemplate: .*scheme/],
    [emailCustomization, { templateVariables: '[1]' }, /templateVariables: .*JSON object/],
    [namedEmailCustomization, { appName: 'Two\nlines' }, /appName: .*control characters/],
    [smsCustomization, { template: 'no code' }, /template: .*\{\{\.OtpCode\}\}/],
    [smsCustomization, { template: '{{.OtpCode}} {{.Other}}' }, /template: .*no field but/],
    [smsCustomization, { template: '\ud83d {{.OtpCode}}' }, /template: .*surrogate pair/],
    [senderParams, { sendFromEmailAddress: 'a@b.example\r\nBcc: c@d.example' }, /sendFromEmailAddress: /],
    [senderParams, { sendFromEmailSenderName: 'Ada\r\nBcc: c@d.example' }, /sendFromEmailSenderName: /],
    [senderParams, { replyToEmailAddress: 'nobody' }, /replyToEmailAddress: .*email address/],
  ])('%#: refuses', (schema, value, problem) => {
    expect(() => parse(schema, value, 'parameters')).toThrow(problem);
  });

  test.each([
    [emailCustomization, { magicLinkTemplate: 'myapp://sign-in/%s', logoUrl: '', templateVariables: '{}' }],
    [emailCustomization, { magicLinkTemplate: 'http://localhost:3000/sign-in?code=%s' }],
    [namedEmailCustomization, { appName: '', templateId: 'x' }],
    [smsCustomization, { template: '' }],
    [senderParams, { sendFromEmailAddress: '', sendFromEmailSenderName: '' }],
  ])('%#: takes', (schema, value) => {
    expect(parse(schema, value)).toEqual(value);
  });
});

describe('names that others chose hide nothing in a message', () => {
  const name = 'Bank\u00a0א5\u3164';
  const shown = '\u2068Bank⟨U+00A0⟩א5⟨U+3164⟩\u2069';

  test('of an application and an organization', () => {
    const mail = oneTimeCodeMessage({
      ...letter,
      organizationName: name,
      channel: 'email',
      code,
      wishes: { sendFromEmailSenderName: name },
    });
    expect(mail.subject).toBe(`Your sign-in code for ${shown}`);
    expect(mail.from).toEqual({ name: shown });
    for (const body of [mail.text, mail.html, mail.subject]) {
      expect(body).toContain(shown);
      expect(body).not.toContain(name);
    }
    const sms = oneTimeCodeMessage({ ...letter, channel: 'sms', code, wishes: { appName: name } });
    expect(sms.text).toBe(`${code} is your code for ${shown}. It works once, for 5 minutes.`);
  });

  test('of the host of a link', () => {
    const wishes = { emailCustomization: { magicLinkTemplate: 'https://аррӏе.com/\u202e?code=%s' } };
    const { text, html } = oneTimeCodeMessage({ ...letter, channel: 'email', code, wishes });
    for (const body of [text, html]) {
      expect(body).toContain(`https://xn--80ak6aa92e.com/%E2%80%AE?code=${code}`);
      expect(body).not.toMatch(/\u202e|\p{Script=Cyrillic}/u);
    }
  });
});

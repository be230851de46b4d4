/** The declarations of `keyhearth messages`. */
import { Option, type Command } from 'commander';
import type { MailOptions, SmsOptions } from './messages.ts';
import { repeatable, sourceOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareMessages(program: Command): void {
  const messages = program
    .command('messages')
    .description('how one-time codes reach people: by mail, by SMS, or on this computer');
  addSubcommand(messages, {
    name: 'status',
    description: 'say what is set up, and what became of the last messages',
    run: async (config, _options, json) => {
      const { messagesStatus } = await import('./messages.ts');
      await messagesStatus(config, json);
    },
  });
  addSubcommand<Omit<MailOptions, 'json'>>(messages, {
    name: 'mail [off]',
    description: 'send mail through a server, or no more',
    options: [
      new Option('--host <name>', 'name of the mail server'),
      new Option('--smtp-port <number>', 'its port; 587, 465 with --security tls, 25 with none'),
      new Option('--security <mode>', 'STARTTLS before anything else is said, TLS from the start, or none')
        .choices(['starttls', 'tls', 'none'])
        .default('starttls'),
      new Option('--user <name>', 'who signs in to it; nobody unless given'),
      ...sourceOptions('password', 'password of that user'),
      new Option('--from <address>', 'address that mail comes from'),
      new Option('--from-name <name>', 'name beside it'),
      new Option('--reply-to <address>', 'where answers go'),
      repeatable('--other-sender <address>', 'let requests send from this address too, or from @domain'),
      new Option('--certificates <file>', 'trust these certificates (PEM), and not those of the system'),
    ],
    run: async (config, flags, json, [operand]) => {
      const { setMail } = await import('./messages.ts');
      await setMail(config, operand, { ...flags, json });
    },
  });
  addSubcommand<Omit<SmsOptions, 'json'>>(messages, {
    name: 'sms [off]',
    description: 'send text messages through an HTTP gateway or Twilio, or no more',
    options: [
      new Option('--gateway-file <file>', 'read the request to make, as JSON: method, url, headers, body'),
      new Option('--twilio-account <sid>', 'SID of the Twilio account'),
      new Option('--twilio-key <sid>', 'SID of an API key, whose secret is read instead of the auth token'),
      new Option('--twilio-url <url>', 'where its API is').default('https://api.twilio.com'),
      ...sourceOptions('password', 'auth token'),
      new Option('--from <sender>', 'a phone number of the account, or the SID of a messaging service'),
    ],
    run: async (config, flags, json, [operand]) => {
      const { setSms } = await import('./messages.ts');
      await setSms(config, operand, { ...flags, json });
    },
  });
  addSubcommand(messages, {
    name: 'desktop <on-or-off>',
    description: 'show what has no other way on this computer; off unless turned on',
    run: async (config, _options, json, [operand = '']) => {
      const { setDesktop } = await import('./messages.ts');
      await setDesktop(config, operand, json);
    },
  });
  addSubcommand(messages, {
    name: 'test <channel> [to]',
    description: 'send a test now, by mail, sms or desktop, and say what came of it',
    run: async (config, _options, json, [channel = '', to]) => {
      const { testMessages } = await import('./messages.ts');
      await testMessages(config, channel, to, json);
    },
  });
  addSubcommand(messages, {
    name: 'retry <message>',
    description: 'try a message again at once',
    run: async (config, _options, json, [message = '']) => {
      const { retryMessage } = await import('./messages.ts');
      await retryMessage(config, message, json);
    },
  });
}

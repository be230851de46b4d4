/** The declarations of `keyhearth messages`. */
import { Option, type Command } from 'commander';
import type { MailOptions, SmsOptions } from './messages.ts';
import { repeatable, sourceOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareMessages(program: Command): void {
  const messages = program
    .command('messages')
    .description('Set up how one-time codes are sent: email, SMS or this computer');
  addSubcommand(messages, {
    name: 'status',
    description: 'Show the setup and the last deliveries',
    run: async (config, { json }) => (await import('./messages.ts')).messagesStatus(config, json),
  });
  addSubcommand<MailOptions>(messages, {
    name: 'mail [off]',
    alias: 'email',
    description: 'Set up email through an SMTP server, or turn email off',
    describes: { off: 'Turns email off' },
    options: [
      new Option('--host <name>', 'Host name of the SMTP server'),
      new Option(
        '--smtp-port <number>',
        'Port of the SMTP server; default: 587, or 465 with tls, 25 with none',
      ),
      new Option('--security <mode>', 'Encryption: STARTTLS, TLS from the start, or none')
        .choices(['starttls', 'tls', 'none'])
        .default('starttls'),
      new Option('--user <name>', 'User name for the SMTP server; default: no sign-in'),
      ...sourceOptions('password', 'password of the SMTP user'),
      new Option('--from <address>', 'Sender address'),
      new Option('--from-name <name>', 'Sender name'),
      new Option('--reply-to <address>', 'Reply-To address'),
      repeatable('--other-sender <address>', 'Allow requests to send from this address too, or from @domain'),
      new Option('--certificates <file>', 'Trust these certificates (PEM) instead of the system’s'),
    ],
    run: async (config, flags, [operand]) => (await import('./messages.ts')).setMail(config, operand, flags),
  });
  addSubcommand<SmsOptions>(messages, {
    name: 'sms [off]',
    description: 'Set up SMS through an HTTP gateway or Twilio, or turn SMS off',
    describes: { off: 'Turns SMS off' },
    options: [
      new Option('--gateway-file <file>', 'Read the gateway’s request as JSON: method, url, headers, body'),
      new Option('--twilio-account <sid>', 'SID of the Twilio account'),
      new Option('--twilio-key <sid>', 'SID of a Twilio API key; its secret replaces the auth token'),
      new Option('--twilio-url <url>', 'Base URL of Twilio’s API').default('https://api.twilio.com'),
      ...sourceOptions('password', 'Twilio auth token or API key secret'),
      new Option('--from <sender>', 'Phone number of the account, or SID of a messaging service'),
    ],
    run: async (config, flags, [operand]) => (await import('./messages.ts')).setSms(config, operand, flags),
  });
  addSubcommand(messages, {
    name: 'desktop <on-or-off>',
    description: 'Show codes on this computer when nothing else is set up; off by default',
    describes: { 'on-or-off': 'New state: on or off' },
    run: async (config, { json }, [operand = '']) =>
      (await import('./messages.ts')).setDesktop(config, operand, json),
  });
  addSubcommand(messages, {
    name: 'test <channel> [to]',
    description: 'Send a test message',
    describes: { channel: 'Channel: email, sms or desktop', to: 'Email address or phone number' },
    run: async (config, { json }, [channel = '', to]) =>
      (await import('./messages.ts')).testMessages(config, channel, to, json),
  });
  addSubcommand(messages, {
    name: 'retry <message>',
    description: 'Retry a failed message',
    describes: { message: 'Message: ID or start of the ID' },
    run: async (config, { json }, [message = '']) =>
      (await import('./messages.ts')).retryMessage(config, message, json),
  });
}

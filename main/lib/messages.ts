/** A message to a person: a one-time code, or another short-lived secret. */
export interface OutgoingMessage {
  readonly channel: 'email' | 'sms';
  /** An email address, or a phone number in E.164. */
  readonly to: string;
  /** Empty for a text message. */
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** The secret that it brings, by itself, for those who read it in the window or in the inbox of `keyhearth dev`. */
  readonly code: string;
  readonly from?: { readonly address?: string; readonly name?: string };
  readonly replyTo?: string;
  /** The end of its use, in milliseconds: it is not sent after that. */
  readonly expiresAt: number;
}

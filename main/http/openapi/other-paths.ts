/** The API's addresses beside the operations, as OpenAPI describes them. */
import { refusalsOf } from './refusals.ts';
import { answer, digits, object, text, uuid, type Json } from './schemas.ts';

const discoveryKeys: Json = {
  operationId: 'discoveryKeys',
  summary: 'Discover keys',
  description: 'Shows the public halves of the vault’s own keys, in hex, to anybody.',
  security: [],
  responses: {
    200: answer('The keys, by what they are for.', { type: 'object', additionalProperties: text }),
  },
};

const webhookKeys: Json = {
  operationId: 'webhookKeys',
  summary: 'Discover webhook keys',
  description: 'Shows the public keys that webhooks are signed with, as a JSON Web Key Set, to anybody.',
  tags: ['Webhooks'],
  security: [],
  responses: {
    200: answer(
      'The keys.',
      object({
        keys: {
          type: 'array',
          items: object({
            kid: text,
            kty: { type: 'string', const: 'OKP' },
            crv: { type: 'string', const: 'Ed25519' },
            alg: { type: 'string', const: 'EdDSA' },
            use: { type: 'string', const: 'sig' },
            x: { ...text, description: 'The public key, in base64url.' },
            turnkey_signature_algorithm: { type: 'string', const: 'ed25519' },
            turnkey_signature_version: { type: 'string', const: 'v1' },
          }),
        },
      }),
    ),
  },
};

/** Its answer is not JSON, and does not end: `event-stream.ts`. */
const activityStream = (): Json => ({
  operationId: 'streamActivities',
  summary: 'Stream activities',
  description:
    'Sends each activity of the organization and its sub-organizations as it is committed, and again whenever it moves on, until the connection is closed. It takes a stamp: a session that may only read opens none.',
  tags: ['Activities'],
  parameters: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'As `lastEventId` in the body, before which it goes.',
      schema: digits,
    },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          ...object({ organizationId: uuid }),
          properties: {
            organizationId: uuid,
            lastEventId: {
              ...digits,
              description:
                'The id of the last event that was received: the stream goes on after it. Without it, it begins with what comes next; with `0`, with the first of the log.',
            },
          },
        },
      },
    },
  },
  responses: {
    200: {
      description:
        'Server-sent events (WHATWG HTML 9.2) named `activity`: `id` is the place in the log, `data` is the activity as JSON, an `Activity`. Comments come in between, so that the connection is not taken for dead.',
      content: { 'text/event-stream': { schema: text } },
    },
    ...refusalsOf('query'),
  },
});

export const otherPaths = (): Json => ({
  '/public/v1/stream/activities': { post: activityStream() },
  '/public/v1/discovery/keys': { get: discoveryKeys },
  '/public/v1/discovery/webhooks/jwks': { get: webhookKeys },
});

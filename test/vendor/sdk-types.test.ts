/**
 * The vendor's TypeScript types, held against what every operation answers. The compiler is what checks here
 * (`npm run check:lint`); the tests themselves see to it that no operation is left out.
 */
import type { TurnkeyApiTypes } from '@turnkey/http';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { activity, query, type Operation } from '../../main/activities/define.ts';
import type { toEnvelope } from '../../main/activities/answer/envelope.ts';
import * as activities from '../../main/operations/activities/activities.ts';
import * as apiKeys from '../../main/operations/credentials/api-keys.ts';
import * as authenticators from '../../main/operations/credentials/authenticators.ts';
import * as features from '../../main/operations/organizations/features.ts';
import * as oauthProviders from '../../main/operations/credentials/oauth-providers.ts';
import * as organizations from '../../main/operations/organizations/organizations.ts';
import * as otp from '../../main/operations/sign-in/otp.ts';
import * as policies from '../../main/operations/policies/policies.ts';
import * as privateKeys from '../../main/operations/private-keys/private-keys.ts';
import * as recovery from '../../main/operations/sign-in/recovery.ts';
import * as secrets from '../../main/operations/secrets/secrets.ts';
import { shownWallet, type shownUser } from '../../main/operations/shared/resources.ts';
import * as sessionProfiles from '../../main/operations/sign-in/session-profiles.ts';
import { createReadOnlySession, createReadWriteSession } from '../../main/operations/sign-in/sessions.ts';
import * as signIn from '../../main/operations/sign-in/sign-in.ts';
import * as signing from '../../main/operations/signing/signing.ts';
import * as subOrganizations from '../../main/operations/organizations/sub-organizations.ts';
import * as smartContractInterfaces from '../../main/operations/signing/smart-contract-interfaces.ts';
import * as tags from '../../main/operations/tags/tags.ts';
import * as transactions from '../../main/operations/signing/transactions.ts';
import * as users from '../../main/operations/users/users.ts';
import * as votes from '../../main/operations/activities/votes.ts';
import * as walletAccounts from '../../main/operations/wallets/wallet-accounts.ts';
import * as wallets from '../../main/operations/wallets/wallets.ts';
import * as webhookEndpoints from '../../main/operations/webhooks/webhook-endpoints.ts';
import { taken } from './vendor-operations.ts';
// The package exports the definitions alone, which do not say whose answers they are.
import type { paths } from '../../node_modules/@turnkey/http/dist/__generated__/services/coordinator/public/v1/public_api.types.d.ts';

/** A value after JSON: a field that is undefined is absent. */
type Arriving<T> = T extends readonly (infer Element)[]
  ? Arriving<Element>[]
  : T extends object
    ? { [Key in keyof T]: Arriving<Exclude<T[Key], undefined>> }
    : T;

type QueryPath<Path extends string> = `/public/v1/query/${Path}` & keyof paths;

/** The vendor's type of what an operation answers: a query's whole answer, an activity's result. */
type Expected<Operation> = Operation extends {
  readonly kind: 'query';
  readonly path: infer Path extends string;
}
  ? paths[QueryPath<Path>]['post']['responses'][200]['schema']
  : Operation extends {
        readonly versions: readonly [{ readonly result: infer Result extends string }, ...unknown[]];
      }
    ? TurnkeyApiTypes[`v1${Capitalize<Result>}` & keyof TurnkeyApiTypes]
    : never;

type Answered<Operation> = Operation extends { readonly returns: infer Returns extends z.ZodType }
  ? Arriving<z.output<Returns>>
  : never;

/** The same operations, but for those whose answer the vendor's type does not take: their place says why. */
type Fitting<Operations> = {
  [Name in keyof Operations]: [Expected<Operations[Name]>] extends [never]
    ? 'the vendor has no such operation'
    : Answered<Operations[Name]> extends Expected<Operations[Name]>
      ? Operations[Name]
      : { readonly expected: Expected<Operations[Name]>; readonly answered: Answered<Operations[Name]> };
};

/** @param resource One file of `main/operations/`: it does not compile while an answer of it does not fit. */
const fitting = <Operations extends object>(resource: Operations & Fitting<Operations>): Operations =>
  resource;

/** All but the one that the vendor lacks. */
const { updateSecret: _own, ...vendorsSecrets } = secrets;

describe('the vendor’s types take', () => {
  test('what every operation answers', () => {
    const held = [
      fitting(apiKeys),
      fitting(authenticators),
      fitting(features),
      fitting(oauthProviders),
      fitting(organizations),
      fitting(otp),
      fitting(policies),
      fitting(privateKeys),
      fitting(recovery),
      fitting(vendorsSecrets),
      fitting({ createReadOnlySession, createReadWriteSession }),
      fitting(sessionProfiles),
      fitting(signIn),
      fitting(signing),
      fitting(subOrganizations),
      fitting(smartContractInterfaces),
      fitting(tags),
      fitting(transactions),
      fitting(users),
      fitting(walletAccounts),
      fitting(wallets),
      fitting(webhookEndpoints),
      // Their answers are activities, below.
      activities,
      votes,
    ].flatMap((resource) => Object.values(resource).map(({ path }: Operation) => path));
    // The vendor has the types of one more, which none of its paths leads to.
    const { path: own } = walletAccounts.updateWalletAccountName;
    expect(held.sort()).toEqual(
      [...taken.values()]
        .map(({ path }) => path)
        .concat(own)
        .sort(),
    );
  });

  test('an activity, as the vault shows it', () => {
    type Shown = ReturnType<typeof toEnvelope>;
    type Vote = Shown['votes'][number];
    type VendorActivity = TurnkeyApiTypes['v1Activity'];
    type VendorVote = TurnkeyApiTypes['v1Vote'];
    /** A value that the vault reads from its file: texts of which the vendor names a few. */
    type Text<T, Names extends keyof T> = Omit<T, Names> & Record<Names, string>;

    // Intent and result are held above, operation by operation; where the vendor's types have no failure, there is null.
    type Envelope = Omit<Shown, 'intent' | 'result' | 'votes' | 'failure'> & {
      readonly failure?: NonNullable<Shown['failure']>;
    };
    expectTypeOf<Envelope>().toExtend<Text<Omit<VendorActivity, 'intent' | 'result' | 'votes'>, 'type'>>();
    expectTypeOf<Omit<Vote, 'user'>>().toExtend<Omit<VendorVote, 'user'>>();
    expectTypeOf<Arriving<z.output<typeof shownUser>>>().toExtend<VendorVote['user']>();
  });
});

describe('the vendor’s types do not take', () => {
  const wallet = { path: 'get_wallet', summary: '', params: z.object({}), run: () => never() } as const;

  test('an answer that lacks a field', () => {
    const getWallet = query({
      ...wallet,
      returns: z.object({ wallet: shownWallet.omit({ walletName: true }) }),
    });
    // @ts-expect-error -- walletName
    fitting({ getWallet });
  });

  test('an answer with a field that may be missing', () => {
    const returns = z.object({ wallet: shownWallet.partial({ walletName: true }) });
    // @ts-expect-error -- walletName
    fitting({ getWallet: query({ ...wallet, returns }) });
  });

  test('an answer with a field of another type', () => {
    const returns = z.object({ wallet: shownWallet.extend({ exported: z.string() }) });
    // @ts-expect-error -- exported
    fitting({ getWallet: query({ ...wallet, returns }) });
  });

  test('a result that lacks a field, or has a name of its own', () => {
    const definition = {
      path: 'create_wallet',
      summary: '',
      title: '',
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      authority: { resource: 'WALLET', action: 'CREATE' },
      intent: 'createWalletIntent',
      params: z.object({}),
      run: () => never(),
    } as const;
    const complete = z.object({ walletId: z.string(), addresses: z.array(z.string()) });
    const result = 'createWalletResult';
    fitting({ createWallet: activity({ ...definition, result, returns: complete }) });
    const lacking = complete.omit({ addresses: true });
    // @ts-expect-error -- addresses
    fitting({ createWallet: activity({ ...definition, result, returns: lacking }) });
    // @ts-expect-error -- the name
    fitting({ createWallet: activity({ ...definition, result: 'makeWalletResult', returns: complete }) });
  });

  test('an operation that the vendor does not have', () => {
    const returns = z.object({ wallet: shownWallet });
    fitting({ getWallet: query({ ...wallet, returns }) });
    // @ts-expect-error -- the path
    fitting({ getWallet: query({ ...wallet, path: 'get_purse', returns }) });
  });
});

function never(): never {
  throw new Error('not run');
}

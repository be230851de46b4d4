/**
 * Types of every operation's parameters and answers: the window and the commands are typed by the schemas of
 * the operations.
 */
import type { z } from 'zod';
import type { KnownOperation } from './index.ts';

/** A value that arrives as JSON, in which a field is never undefined, only absent. */
type Arriving<T> = T extends object ? { readonly [Key in keyof T]: Arriving<Exclude<T[Key], undefined>> } : T;

/**
 * A value to send: a client's own values may be read-only. An object without fields is `unknown`, to which
 * fields may be added.
 */
type Sent<T> = T extends readonly unknown[]
  ? { readonly [Index in keyof T]: Sent<T[Index]> }
  : T extends object
    ? string extends keyof T
      ? unknown
      : { readonly [Key in keyof T]: Sent<T[Key]> }
    : T;

type KnownVote = Extract<KnownOperation, { readonly vote: string }>;

type Queries = {
  readonly [Query in Extract<KnownOperation, { readonly kind: 'query' }> as Query['path']]: Query;
};

type Activities = {
  readonly [
    Activity in Exclude<
      Extract<KnownOperation, { readonly kind: 'activity' }>,
      { readonly vote: string }
    > as Activity['versions'][0]['type']
  ]: Activity;
};

/** The last part of a query's path: `list_wallets`. */
export type QueryPath = keyof Queries;

/** A query's body, without the organization. */
export type QueryParameters<Path extends QueryPath> = Sent<z.input<Queries[Path]['params']>>;

export type Answer<Path extends QueryPath> = Arriving<z.output<Queries[Path]['returns']>>;

/** The newest type of an activity; its path is the type in small letters, without its version. */
export type ActivityType = keyof Activities;

export type ActivityParameters<Type extends ActivityType> = Sent<
  z.input<Activities[Type]['versions'][0]['params']>
>;

export type ActivityResult<Type extends ActivityType> = Arriving<z.output<Activities[Type]['returns']>>;

export type VoteType = KnownVote['versions'][0]['type'];

/**
 * A client's schema for an answer, checked against the operation: a schema that expects something else does
 * not compile.
 */
export type Reading<Answered, Shape extends z.ZodType> =
  Answered extends Arriving<z.input<Shape>> ? Shape : { readonly 'the operation answers': Answered };

/** Facts of Solana's transactions for policies. */
import { toHex } from '../../crypto/encodings.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { FactOf } from '../facts.ts';
import { tokenTransfersOf, unreadTransfers, type SolanaAction, type SolanaReading } from './actions.ts';
import type { NamedAccount } from './instructions.ts';
import { signersOf, type LookupReference, type SolanaAccount } from './read.ts';

/** An instruction's accounts keep their places. The key of one that is looked up is unknown, and where it is found is beside them. */
export function solanaFact({ message, actions, money }: SolanaReading): FactOf<'solana.tx'> {
  const { accounts, lookedUp, lookups, recentBlockhash } = message;
  const keys = accounts.map(({ key }) => key);
  const all = [...accounts, ...lookedUp];
  const called = new Set(actions.map(({ program }) => program.key));
  const programs = keys.filter((key) => called.has(key));
  const instructions = actions.map(instructionFact);
  return {
    static_account_keys: keys,
    account_keys: all.map(keyOf),
    top_level_program_keys: programs,
    program_keys: programs,
    recent_blockhash: recentBlockhash,
    top_level_instructions: instructions,
    instructions,
    transfers:
      unreadTransfers(actions, false) ??
      actions
        .flatMap(({ known }) => known?.effect.transfer ?? [])
        .map(({ from, to, amount }) => ({ from: keyOf(from), to: keyOf(to), amount })),
    spl_transfers:
      unreadTransfers(actions, true) ??
      tokenTransfersOf(actions).map(({ from, to, amount, owner, signers, mint }) => ({
        from: keyOf(from),
        to: keyOf(to),
        amount,
        owner: keyOf(owner),
        signers: signers.map(keyOf),
        token_mint: mint && keyOf(mint),
      })),
    address_table_lookups: lookups.map(({ table, writable, readonly }) => ({
      address_table_key: table,
      writable_indexes: writable,
      readonly_indexes: readonly,
    })),
    address_table_lookup_references: referencesOf(lookedUp),
    fee_payer: keys[0],
    signers: signersOf(message).map(({ key }) => key),
    writable_accounts: all.filter(({ writable }) => writable).map(keyOf),
    max_fee: money.maxFee,
    outflow: money.outflow,
  };
}

const keyOf = ({ key, lookup }: SolanaAccount): string | Unknown =>
  key ??
  new Unknown(
    `an account is looked up on the chain, as number ${String(lookup?.index)} of the table ${lookup?.table ?? ''}`,
  );

const referencesOf = (accounts: readonly SolanaAccount[]) =>
  accounts.flatMap(({ lookup }) => (lookup === undefined ? [] : [lookupFact(lookup)]));

const lookupFact = ({ table, index, writable }: LookupReference) => ({
  address_table_key: table,
  index,
  writable,
});

const instructionFact = (action: SolanaAction) => ({
  program_key: action.program.key,
  accounts: action.accounts.map((account) => ({
    account_key: keyOf(account),
    signer: account.signer,
    writable: account.writable,
  })),
  instruction_data_hex: toHex(action.data),
  address_table_lookups: referencesOf(action.accounts),
  parsed_instruction_data: parsedFact(action),
});

/** By the interface that is kept, as the vendor's; without one, by the vault's own tables. */
function parsedFact({ known, called, problem }: SolanaAction) {
  const unread = new Unknown(`an instruction cannot be read: ${problem ?? 'its interface does not read it'}`);
  if (called === undefined) {
    return known === undefined ? unread : parsed(known, Object.fromEntries(known.args.map(entryOf)));
  }
  const { args } = called;
  return parsed(
    called,
    args.ok
      ? Object.fromEntries(args.value.map(entryOf))
      : new Unknown(`an instruction cannot be read: ${args.problem}`),
  );
}

const entryOf = <Value>({ name, value }: { readonly name: string; readonly value: Value }) =>
  [name, value] as const;

function parsed<Args>(
  said: { readonly name: string; readonly discriminator: string; readonly accounts: readonly NamedAccount[] },
  args: Args,
) {
  const named = Object.fromEntries(
    said.accounts.map(({ name, account }) => [
      name,
      account === undefined ? new Unknown(`the instruction has no account ${name}`) : keyOf(account),
    ]),
  );
  return {
    instruction_name: said.name,
    discriminator: said.discriminator,
    named_accounts: named,
    // As the vendor's table calls it, unlike its text.
    named_account: named,
    program_call_args: args,
  };
}

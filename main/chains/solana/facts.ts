/** What policies may read of Solana's transactions. */
import { toHex } from '../../crypto/encodings.ts';
import { byName } from '../arguments.ts';
import type { FactOf } from '../facts.ts';
import type { Interfaces } from '../interfaces.ts';
import { readInstructionBy, type Idl } from './idl.ts';
import { tokenTransfersOf, transfersOf } from './programs.ts';
import {
  lookupReferences,
  type LookupReference,
  type SolanaInstruction,
  type SolanaTransaction,
} from './read.ts';

/**
 * An instruction's `accounts` are those that stand in the message; what it looks up is beside them. A program is named
 * once, in the order of the accounts.
 */
export function solanaFact(transaction: SolanaTransaction, interfaces: Interfaces): FactOf<'solana.tx'> {
  const keys = transaction.accounts.map(({ key }) => key);
  const called = new Set(transaction.instructions.map(({ program }) => program));
  const programs = keys.filter((key) => called.has(key));
  const instructions = transaction.instructions.map((instruction) => {
    const { program, accounts, data } = instruction;
    return {
      program_key: program,
      accounts: accounts
        .filter(({ lookup }) => lookup === undefined)
        .map(({ key, signer, writable }) => ({ account_key: key, signer, writable })),
      instruction_data_hex: toHex(data),
      address_table_lookups: accounts.flatMap(({ lookup }) =>
        lookup === undefined ? [] : [lookupFact(lookup)],
      ),
      parsed_instruction_data: parsedFact(instruction, interfaces.idl(program)),
    };
  });
  return {
    static_account_keys: keys,
    account_keys: keys,
    top_level_program_keys: programs,
    program_keys: programs,
    recent_blockhash: transaction.recentBlockhash,
    top_level_instructions: instructions,
    instructions,
    transfers: transfersOf(transaction),
    spl_transfers: tokenTransfersOf(transaction).map(({ from, to, amount, owner, signers, mint }) => ({
      from,
      to,
      amount,
      owner,
      signers,
      token_mint: mint,
    })),
    address_table_lookups: transaction.lookups.map(({ table, writable, readonly }) => ({
      address_table_key: table,
      writable_indexes: writable,
      readonly_indexes: readonly,
    })),
    address_table_lookup_references: lookupReferences(transaction.lookups).map(lookupFact),
  };
}

function parsedFact(instruction: SolanaInstruction, idl: Idl | undefined) {
  const read = idl && readInstructionBy(idl, instruction);
  if (!read?.ok) return undefined;
  const { name, discriminator, accounts, args } = read.value;
  return {
    instruction_name: name,
    discriminator,
    named_accounts: accounts,
    // As the vendor's table calls it, unlike its text.
    named_account: accounts,
    program_call_args: byName(args),
  };
}

const lookupFact = ({ table, index, writable }: LookupReference) => ({
  address_table_key: table,
  index,
  writable,
});

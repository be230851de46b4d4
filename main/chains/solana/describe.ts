/** Solana's transactions in plain language. */
import { toHex } from '../../crypto/encodings.ts';
import { written } from '../arguments.ts';
import { decimal } from '../amounts.ts';
import { cut, line, mostParts, titleOfParts, type Description, type Part } from '../description.ts';
import { readInstructionBy, type Idl } from './idl.ts';
import { knownInstruction, priorityFee, programName } from './programs.ts';
import { lookedUp, type SolanaInstruction, type SolanaTransaction } from './read.ts';

const solOf = (lamports: bigint): string => `${decimal(lamports, 9)} SOL`;

/** @param interfaceOf Answers the interface of a program, where one is kept. */
export function describeSolana(
  transaction: SolanaTransaction,
  interfaceOf: (program: string) => Idl | undefined,
): Description {
  const { accounts, instructions, lookups, recentBlockhash } = transaction;
  const warnings: string[] = [];
  const parts = instructions.slice(0, mostParts).map((instruction): Part => {
    const { part, warning } = instructionPart(instruction, interfaceOf(instruction.program));
    if (warning !== undefined) warnings.push(warning);
    return part;
  });
  if (instructions.length > mostParts) {
    warnings.push(`${String(instructions.length - mostParts)} more instructions are not shown.`);
  }
  if (lookups.length > 0) {
    warnings.push('Some accounts are looked up in tables on the chain: which they are is not known here.');
  }
  const signers = accounts.filter(({ signer }) => signer);
  const base = 5000n * BigInt(signers.length);
  return {
    title: titleOfParts(parts, ({ title }) =>
      /^(Use at most|Pay [0-9]+ microlamports|Set a limit|Memo)/.test(title),
    ),
    lines: [
      line('Network', 'Solana: it does not say which'),
      line('Pays the fee', accounts[0]?.key ?? ''),
      line('Fee at most', solOf(base + (priorityFee(transaction) ?? 0n))),
      ...signers.slice(1).map(({ key }) => line('Signs too', key)),
      line('Recent blockhash', recentBlockhash),
    ],
    parts,
    warnings: [...new Set(warnings)],
    digests: [],
  };
}

function instructionPart(
  instruction: SolanaInstruction,
  idl: Idl | undefined,
): { readonly part: Part; readonly warning?: string | undefined } {
  const { program, accounts, data } = instruction;
  const known = knownInstruction(instruction);
  if (known) {
    const { title, facts, warning } = known;
    return { part: { title, lines: facts.map(([label, value]) => line(label, cut(value))) }, warning };
  }
  const name = programName(program) ?? program;
  const read = idl && readInstructionBy(idl, instruction);
  if (read?.ok) {
    const { name: called, args, accounts: named } = read.value;
    return {
      part: {
        title: `Call ${called} of ${name}`,
        lines: [
          ...args.map((argument) => line(argument.name, cut(written(argument.value)))),
          ...Object.entries(named).map(([label, key]) => line(label, key)),
        ],
      },
    };
  }
  return {
    part: {
      title: `Call ${name}`,
      lines: [
        line('Data', data.length === 0 ? 'None' : cut(toHex(data))),
        ...accounts
          .slice(0, mostParts)
          .map(({ key, lookup }, index) =>
            line(
              `Account ${String(index + 1)}`,
              lookup === undefined ? key : `${lookedUp}: ${String(lookup.index)} of ${lookup.table}`,
            ),
          ),
      ],
    },
    warning: 'A program is called with data that nothing here can read: what it does is not known.',
  };
}

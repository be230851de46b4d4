/** Typed data (EIP-712) in plain language, and what policies may read of it. */
import type { TypedData } from './eip712.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { line, mostParts, Writer, type Description, type Line, type Part } from '../description.ts';
import type { FactOf } from '../facts.ts';
import { hexOf } from './hex.ts';
import { countLeaves, firstOf, leavesOf } from './listed.ts';
import { networkOf } from './networks.ts';
import { describeShapes } from './typed-data-shapes.ts';
import { wordsOf } from './words.ts';

export function describeTypedData(data: TypedData, context: Context): Description {
  const { primaryType, domain, message, messageType, domainType, domainHash, messageHash, digest } = data;
  const { name, chainId, verifyingContract } = domain;
  const writer = new Writer();
  const network = typeof chainId === 'bigint' ? networkOf(chainId).name : undefined;
  const contract =
    typeof verifyingContract === 'string' && /^0x[0-9a-fA-F]{40}$/.test(verifyingContract)
      ? verifyingContract
      : '';
  const words = wordsOf(context, typeof chainId === 'bigint' ? chainId : undefined, contract, writer);
  const told = describeShapes(data, words, writer);
  const application = typeof name === 'string' ? writer.text(name) : undefined;
  const type = writer.text(primaryType);
  writer.warn(...told.warnings);
  if (network === undefined) writer.warn('It names no chain. It may hold on every chain.');
  if (!data.isStandardDomain) writer.warn('Its domain is not as the standard has it.');
  return {
    title: told.title ?? `Sign “${type}”${application === undefined ? '' : ` for “${application}”`}`,
    lines: [
      line('Network', network ?? 'Not named'),
      ...(application === undefined ? [] : [line('Application', application)]),
      ...(contract === ''
        ? []
        : [
            line(
              'Contract',
              words.knows(contract) ? `${words.token(contract)} (${contract})` : words.account(contract),
            ),
          ]),
      line('Type', type),
    ],
    parts: [
      partOf('Message', leavesOf(message, '', writer), writer),
      partOf('Domain', leavesOf(domain, '', writer), writer),
      {
        title: 'Types',
        lines: [line('Message', writer.text(messageType)), line('Domain', writer.text(domainType))],
      },
    ],
    warnings: writer.warnings,
    // The names are those of ERC-8213.
    digests: [
      line('EIP-712 digest', hexOf(digest)),
      line('Domain hash', hexOf(domainHash)),
      line('Message hash', hexOf(messageHash)),
    ],
  };
}

function partOf(title: string, lines: readonly Line[], writer: Writer): Part {
  const { shown, rest } = firstOf(lines, 'values', writer);
  return { title, lines: [...shown, ...rest] };
}

export function typedDataFact(data: TypedData): FactOf<'eth.eip_712'> | Unknown {
  const { primaryType, domain, message, messageType, domainType, isStandardDomain } = data;
  if ([message, domain].some((each) => countLeaves(each) > mostParts)) {
    return new Unknown(`the typed data has more than ${String(mostParts)} values`);
  }
  return {
    primary_type: primaryType,
    domain: isStandardDomain
      ? domainFact(domain)
      : new Unknown('the domain has members that the standard does not have, or of other types'),
    message,
    message_type: messageType,
    domain_type: domainType,
  };
}

/** The standard's members have the standard's types. */
function domainFact({ name, version, chainId, verifyingContract, salt }: TypedData['domain']) {
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    name: text(name),
    version: text(version),
    chain_id: typeof chainId === 'bigint' ? chainId : undefined,
    verifying_contract: text(verifyingContract),
    salt: text(salt),
  };
}

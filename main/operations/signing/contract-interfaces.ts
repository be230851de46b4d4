/** The interfaces that an organization keeps, ready to read calls by. */
import { readAbi } from '../../chains/ethereum/abi.ts';
import type { Interfaces } from '../../chains/interfaces.ts';
import type { Read } from '../../chains/reading.ts';
import { readIdl } from '../../chains/solana/idl.ts';
import { jsonFault } from '../../crypto/json-fault.ts';
import { parseJson } from '../../crypto/json.ts';
import { Lru } from '../../lib/lru.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  findInterface,
  type SmartContractInterfaceRow,
} from '../../storage/tables/smart-contract-interfaces.ts';
import { KeyhearthError } from '../../lib/errors.ts';

type InterfaceType = SmartContractInterfaceRow['type'];

export const interfacesOf = (tx: Reader, organizationId: string): Interfaces => ({
  abi: (address) => valueOf(tx, organizationId, abis, 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', address),
  idl: (program) => valueOf(tx, organizationId, idls, 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', program),
});

/** Recently parsed interfaces, by their text: repeated signatures read the same. */
const abis = remembering(readAbi);
const idls = remembering(readIdl);

function remembering<T>(read: (value: unknown) => Read<T>): (text: string) => Read<T> {
  const remembered = new Lru<string, Read<T>>(16);
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const result = parsed(text, read);
    remembered.set(text, result);
    return result;
  };
}

function parsed<T>(text: string, read: (value: unknown) => Read<T>): Read<T> {
  try {
    return read(parseJson('interface', text));
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    // An interface is not secret, so the error gives its author the position.
    const position = jsonFault(text) ?? 'an unknown place: it nests too deep';
    return { ok: false, problem: `expected JSON, got text that is none at ${position}` };
  }
}

/** @returns the interface, or the reason why the text is not one of the type. */
export const parseInterface = (type: InterfaceType, text: string): Read<unknown> =>
  type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' ? abis(text) : idls(text);

function valueOf<T>(
  tx: Reader,
  organizationId: string,
  read: (text: string) => Read<T>,
  type: InterfaceType,
  address: string,
): T | undefined {
  const row = findInterface(tx, organizationId, type, address);
  if (row === undefined) return undefined;
  const result = read(row.interface);
  return result.ok ? result.value : undefined;
}

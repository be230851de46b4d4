/** Interfaces of contracts and programs, by which policies and people read the calls in transactions. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { decodeBase58 } from '../../crypto/encodings.ts';
import { checksumAddress, readEthereumAddress } from '../../chains/addresses/ethereum.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import {
  deleteInterface,
  findInterface,
  getInterfaceRow,
  insertInterface,
  listInterfaceRows,
  toSmartContractInterface,
} from '../../storage/tables/smart-contract-interfaces.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { parseInterface } from './contract-interfaces.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, orNotFound, id, name } from '../shared/parameters.ts';
import { shownSmartContractInterface, smartContractInterfaceTypes } from '../shared/resources.ts';

const notes = z.string().max(limits.noteCharacters);

export const createSmartContractInterface = activity({
  path: 'create_smart_contract_interface',
  summary: 'Keeps the interface of a contract or a program.',
  title: 'Add a contract interface',
  type: 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
  intent: 'createSmartContractInterfaceIntent',
  result: 'createSmartContractInterfaceResult',
  authority: { resource: 'SMART_CONTRACT_INTERFACE', action: 'CREATE', changesRights: true },
  params: z.object({
    smartContractAddress: z.string().min(1).max(200),
    smartContractInterface: z.string().min(2).max(limits.interfaceCharacters),
    type: z.enum(smartContractInterfaceTypes),
    label: name,
    notes: notes.optional(),
  }),
  returns: z.object({ smartContractInterfaceId: z.string() }),
  run({ tx, organizationId, params, random, now }) {
    const { type, smartContractInterface, label } = params;
    const field = 'parameters.smartContractAddress';
    const address =
      type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM'
        ? checksumAddress(readEthereumAddress(field, params.smartContractAddress))
        : programAddress(field, params.smartContractAddress);
    const parsed = parseInterface(type, smartContractInterface);
    if (!parsed.ok) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid parameters.smartContractInterface: ${parsed.problem}`,
      );
    }
    const present = findInterface(tx, organizationId, type, address);
    if (present) {
      throw new KeyhearthError(
        'ALREADY_EXISTS',
        `${address} has a smart contract interface already: ${present.id}; delete it first, since a call is read by one`,
      );
    }
    checkLimit(
      tx,
      'smart contract interfaces',
      listInterfaceRows(tx, organizationId).length,
      1,
      limits.interfacesPerOrganization,
    );
    const smartContractInterfaceId = uuidV4(random('smart contract interface', 16));
    insertInterface(tx, {
      id: smartContractInterfaceId,
      organizationId,
      type,
      address,
      interface: smartContractInterface,
      label,
      notes: params.notes ?? '',
      createdAt: now,
    });
    return { smartContractInterfaceId };
  },
});

/** Base58 of 32 bytes, which is compared to the letter. */
function programAddress(field: string, text: string): string {
  decodeBase58(field, text, 32);
  return text;
}

const missing = (wanted: string): string => `unable to find smart contract interface ${wanted}`;

export const deleteSmartContractInterface = activity({
  path: 'delete_smart_contract_interface',
  summary: 'Deletes an interface; policies read its calls no longer.',
  title: 'Delete a contract interface',
  type: 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE',
  intent: 'deleteSmartContractInterfaceIntent',
  result: 'deleteSmartContractInterfaceResult',
  authority: { resource: 'SMART_CONTRACT_INTERFACE', action: 'DELETE', changesRights: true },
  params: z.object({ smartContractInterfaceId: id }),
  returns: z.object({ smartContractInterfaceId: z.string() }),
  run({ tx, organizationId, params: { smartContractInterfaceId } }) {
    orNotFound(
      getInterfaceRow(tx, organizationId, smartContractInterfaceId),
      missing(smartContractInterfaceId),
    );
    deleteInterface(tx, smartContractInterfaceId);
    return { smartContractInterfaceId };
  },
});

export const getSmartContractInterface = query({
  path: 'get_smart_contract_interface',
  summary: 'Shows one interface.',
  params: z.object({ smartContractInterfaceId: id }),
  returns: z.object({ smartContractInterface: shownSmartContractInterface }),
  run: ({ tx, organizationId, params: { smartContractInterfaceId } }) => ({
    smartContractInterface: toSmartContractInterface(
      orNotFound(
        getInterfaceRow(tx, organizationId, smartContractInterfaceId),
        missing(smartContractInterfaceId),
      ),
    ),
  }),
});

export const listSmartContractInterfaces = query({
  path: 'list_smart_contract_interfaces',
  summary: 'Lists all interfaces.',
  params: z.object({}),
  returns: z.object({ smartContractInterfaces: z.array(shownSmartContractInterface) }),
  run: ({ tx, organizationId }) => ({
    smartContractInterfaces: listInterfaceRows(tx, organizationId).map(toSmartContractInterface),
  }),
});

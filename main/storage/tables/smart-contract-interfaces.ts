/**
 * Interfaces of contracts and programs (ABI, IDL), by which their calls are read. They are created and
 * deleted, not changed.
 */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const smartContractInterfaces = table('smart_contract_interfaces', {
  id: text,
  organizationId: text,
  type: text.of<'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA'>(),
  /** Ethereum's with its checksum. */
  address: text,
  /** JSON, as it was sent. */
  interface: text,
  label: text,
  notes: text,
  createdAt: number,
});

export type SmartContractInterfaceRow = RowOf<typeof smartContractInterfaces>;

/** As the API shows one. */
export interface SmartContractInterface {
  readonly organizationId: string;
  readonly smartContractInterfaceId: string;
  readonly smartContractAddress: string;
  readonly smartContractInterface: string;
  readonly type: string;
  readonly label: string;
  readonly notes: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export const getInterfaceRow = (
  tx: Reader,
  organizationId: string,
  id: string,
): SmartContractInterfaceRow | undefined =>
  tx.get<SmartContractInterfaceRow>(
    `SELECT ${smartContractInterfaces.columns} FROM smart_contract_interfaces WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export const findInterface = (
  tx: Reader,
  organizationId: string,
  type: SmartContractInterfaceRow['type'],
  address: string,
): SmartContractInterfaceRow | undefined =>
  tx.get<SmartContractInterfaceRow>(
    `SELECT ${smartContractInterfaces.columns} FROM smart_contract_interfaces WHERE organization_id = ? AND type = ? AND address = ?`,
    organizationId,
    type,
    address,
  );

/** In the order of creation. */
export const listInterfaceRows = (tx: Reader, organizationId: string): SmartContractInterfaceRow[] =>
  tx.all<SmartContractInterfaceRow>(
    `SELECT ${smartContractInterfaces.columns} FROM smart_contract_interfaces WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const insertInterface = smartContractInterfaces.insert;

export function deleteInterface(tx: Writer, id: string): void {
  tx.run('DELETE FROM smart_contract_interfaces WHERE id = ?', id);
}

export const toSmartContractInterface = (row: SmartContractInterfaceRow): SmartContractInterface => ({
  organizationId: row.organizationId,
  smartContractInterfaceId: row.id,
  smartContractAddress: row.address,
  smartContractInterface: row.interface,
  type: row.type,
  label: row.label,
  notes: row.notes,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.createdAt),
});

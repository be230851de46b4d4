/** The interfaces of contracts and programs that an organization keeps: calls are read by them. */
import type { Abi } from './ethereum/abi.ts';
import type { Idl } from './solana/idl.ts';

export interface Interfaces {
  /** @param address With its checksum. */
  readonly abi: (address: string) => Abi | undefined;
  /** @param program Base58. */
  readonly idl: (program: string) => Idl | undefined;
}

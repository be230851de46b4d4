/** The accounts and chains that a program is offered, as its own policies name them. Policies decide about each request all the same. */
import { decodeHex, toHex } from '../../crypto/encodings.ts';
import { uncompressed } from '../../crypto/keys/secp256k1.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { doorKinds, policiesOfProgram } from '../../lib/policies/doors.ts';
import type { Gone, Program } from '../program.ts';

export interface Offer {
  /** The first is the one of an address that names none. */
  readonly chainIds: readonly [bigint, ...bigint[]];
  readonly walletId: string;
  readonly accounts: readonly Account[];
}

export interface Account {
  /** With its checksum. */
  readonly address: string;
  /** `0x` and the 64 bytes of the uncompressed point, as web3signer names keys. */
  readonly publicKey: string;
}

/** Milliseconds for which an answer serves those that come right after it. */
const freshMs = 1000;

/** Asks the API, as the program's user, for its accounts and chains. */
export class Offers {
  readonly #program: Program;
  #asked: { readonly at: number; readonly offer: Promise<Offer> } | undefined;

  constructor(program: Program) {
    this.#program = program;
  }

  /** @throws KeyhearthError PERMISSION_DENIED where its policies name no wallet. */
  async get(gone: Gone): Promise<Offer> {
    await this.#program.ready(gone);
    const now = performance.now();
    if (this.#asked === undefined || now - this.#asked.at > freshMs) {
      // For all who ask meanwhile: none of them ends it by leaving.
      const offer = this.#ask(new AbortController().signal);
      this.#asked = { at: now, offer };
      // A refusal is not kept.
      offer.catch(() => (this.#asked = undefined));
    }
    return this.#asked.offer;
  }

  /**
   * A program of another wallet would keep the account's own programs waiting for their turn, until policies refuse its payment.
   * @throws KeyhearthError PERMISSION_DENIED for an account that is not of the program's wallet.
   */
  async checkAccount(address: string, gone: Gone): Promise<void> {
    const { walletId, accounts } = await this.get(gone);
    if (accounts.some((each) => each.address === address)) return;
    try {
      // A wallet may have more accounts than are offered.
      await this.#program.query('get_wallet_account', { walletId, address }, gone);
    } catch (error) {
      if (!(error instanceof KeyhearthError) || error.code !== 'NOT_FOUND') throw error;
      throw new KeyhearthError('PERMISSION_DENIED', `the wallet of this program has no account ${address}`);
    }
  }

  async #ask(gone: Gone): Promise<Offer> {
    const { userId } = await this.#program.query('whoami', {}, gone);
    const { policies } = await this.#program.query('list_policies', {}, gone);
    const ids = policiesOfProgram(userId, policies);
    const own = policies.filter(({ policyId }) => ids.includes(policyId));
    const spending = doorKinds.ethereum.read?.(userId, own)?.spending;
    const [first, ...others] = spending?.chainIds ?? [];
    if (spending === undefined || first === undefined) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        'the policies of this program name no wallet: see `keyhearth rpc list`',
      );
    }
    const wanted = { walletId: spending.walletId, paginationOptions: { limit: '100' } };
    const { accounts } = await this.#program.query('list_wallet_accounts', wanted, gone);
    return {
      chainIds: [first, ...others],
      walletId: spending.walletId,
      accounts: accounts
        .filter(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM')
        .map(({ address, publicKey }) => ({ address, publicKey: `0x${pointOf(publicKey)}` })),
    };
  }
}

/** Without the byte that says that the point is whole. */
const pointOf = (publicKey: string): string =>
  toHex(uncompressed(decodeHex('publicKey', publicKey)).subarray(1));

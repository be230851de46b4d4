/** Bodies that a hostile program may send to the Ethereum door: each begins as one that is valid, or as none. */
import fc from 'fast-check';
import { concatHex, serializeTransaction, toHex, toRlp, type Hex, type TransactionSerializable } from 'viem';

export interface DoorBody {
  /** After the token. */
  readonly path: string;
  readonly body: string;
  /** False where its answer is a signature that the program has no right to. */
  readonly mayBeSigned: boolean;
}

interface Around {
  readonly from: string;
  readonly to: string;
  /** As web3signer names it. */
  readonly key: string;
}

const bytes = (length: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((each) => toHex(each));
const wordOf = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 96n - 1n, 2n ** 160n - 1n, 2n ** 160n, 2n ** 256n - 1n, 2n ** 256n),
  fc.bigInt(0n, 2n ** 64n),
);

/** A byte changed, left out, or put in; or as it was. */
const damaged = (hex: Hex): fc.Arbitrary<Hex> =>
  fc
    .tuple(fc.constantFrom('none', 'change', 'cut', 'end', 'add'), fc.nat(hex.length), fc.nat(255))
    .map(([how, at, byte]): Hex => {
      const place = 2 + 2 * Math.floor(at / 2);
      const put = byte.toString(16).padStart(2, '0');
      const [before, after] = [hex.slice(0, place), hex.slice(place)];
      if (how === 'none') return hex;
      if (how === 'cut') return `0x${before.slice(2)}${after.slice(2)}`;
      if (how === 'end') return `0x${before.slice(2)}`;
      return `0x${before.slice(2)}${put}${how === 'change' ? after.slice(2) : after}`;
    });

function rawTransactions({ to }: Around): fc.Arbitrary<Hex> {
  const receiver = fc.constantFrom(to, undefined) as fc.Arbitrary<Hex | undefined>;
  return fc
    .record({
      type: fc.constantFrom('legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702'),
      chainId: fc.constantFrom(1, 5, 31337),
      nonce: fc.nat(9),
      gas: fc.constantFrom(21_000n, 100_000n),
      value: fc.constantFrom(0n, 1n, 10n ** 18n),
      to: receiver,
      data: fc.oneof(fc.constant<Hex>('0x'), bytes(4), bytes(68)),
    })
    .chain(({ type, ...wish }) => {
      const market = type === 'eip1559' || type === 'eip4844' || type === 'eip7702';
      const signed = { chainId: 1, address: to as Hex, nonce: 0, yParity: 0, r: toHex(1), s: toHex(1) };
      const of = {
        ...wish,
        type,
        ...(market ? { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } : { gasPrice: 1n }),
        ...(type === 'eip4844' && { maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${'0'.repeat(62)}`] }),
        ...(type === 'eip7702' && { authorizationList: [signed] }),
        ...((type === 'eip4844' || type === 'eip7702') && { to }),
      };
      return damaged(serializeTransaction(of as unknown as TransactionSerializable));
    });
}

/** EIP-7702's, as it is hashed. */
const authorizations = ({ to }: Around): fc.Arbitrary<Hex> =>
  fc
    .tuple(fc.constantFrom<Hex>('0x', '0x01', '0x05'), fc.constantFrom<Hex>('0x', '0x01'))
    .chain(([chainId, nonce]) => damaged(concatHex(['0x05', toRlp([chainId, to as Hex, nonce])])));

const domainTypes = [
  { name: 'name', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
const uint = (name: string, width = 256) => ({ name, type: `uint${String(width)}` });
const addressOf = (name: string) => ({ name, type: 'address' });

/** Permits: of EIP-2612, and of Permit2 for one token and for many. */
function permits({ from, to }: Around): fc.Arbitrary<object> {
  const PermitDetails = [addressOf('token'), uint('amount', 160), uint('expiration', 48), uint('nonce', 48)];
  const TokenPermissions = [addressOf('token'), uint('amount')];
  const one = fc.record({
    token: fc.constantFrom(to, from),
    ...{ amount: wordOf.map(String), expiration: wordOf.map(String), nonce: wordOf.map(String) },
  });
  const many = fc.array(one, { maxLength: 5 });
  const shapes: readonly fc.Arbitrary<{ primaryType: string; types: object; message: object }>[] = [
    wordOf.map((value) => ({
      primaryType: 'Permit',
      types: {
        Permit: [addressOf('owner'), addressOf('spender'), uint('value'), uint('nonce'), uint('deadline')],
      },
      message: { owner: from, spender: to, value: String(value), nonce: '0', deadline: '1' },
    })),
    many.map((details) => ({
      primaryType: 'PermitBatch',
      types: {
        PermitBatch: [
          { name: 'details', type: 'PermitDetails[]' },
          addressOf('spender'),
          uint('sigDeadline'),
        ],
        PermitDetails,
      },
      message: { details, spender: to, sigDeadline: '1' },
    })),
    many.map((permitted) => ({
      primaryType: 'PermitBatchTransferFrom',
      types: {
        PermitBatchTransferFrom: [
          { name: 'permitted', type: 'TokenPermissions[]' },
          addressOf('spender'),
          uint('nonce'),
          uint('deadline'),
        ],
        TokenPermissions,
      },
      message: {
        permitted: permitted.map(({ token, amount }) => ({ token, amount })),
        spender: to,
        nonce: '0',
        deadline: '1',
      },
    })),
  ];
  return fc
    .tuple(
      fc.oneof(...shapes),
      fc.constantFrom<unknown>(1, '1', '0x1', 5, -1, 'x', null),
      fc.option(fc.tuple(fc.constantFrom('types', 'message', 'domain', 'primaryType'), fc.jsonValue())),
    )
    .map(([{ types, ...shape }, chainId, change]) => ({
      ...{ ...shape, types: { EIP712Domain: domainTypes, ...types } },
      domain: { name: 'Permit', chainId, verifyingContract: to },
      ...(change !== null && { [change[0]]: change[1] }),
    }));
}

/** Calls whose parameters are anything. */
function calls({ from, to }: Around, whole: object): fc.Arbitrary<string> {
  const methods = [
    ...['eth_sendTransaction', 'eth_signTransaction', 'personal_sign', 'eth_signTypedData_v4', 'eth_call'],
    ...['account_signData', 'account_signTransaction', 'eth_accounts', '__proto__', 'constructor'],
  ];
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<unknown>(from, to, '0x', '0x1', null, {}, [], '__proto__') },
    { weight: 2, arbitrary: fc.jsonValue() },
  );
  const names = [...Object.keys(whole), 'type', 'input', 'accessList', 'chainId', 'authorizationList'];
  const fields = fc.dictionary(fc.constantFrom(...names, '__proto__'), value);
  return fc
    .record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.nat(), fc.string(), fc.constant(null)),
      method: fc.oneof(fc.constantFrom(...methods), fc.string()),
      params: fc.array(
        fc.oneof(
          value,
          fields,
          fields.map((some) => ({ ...whole, ...some })),
        ),
      ),
    })
    .map((one) => JSON.stringify(one));
}

/**
 * @param whole A transaction that the program may send. It has no right to messages, permits, authorizations and hashes.
 */
export function doorBodies(around: Around, whole: object): fc.Arbitrary<DoorBody> {
  const { from, key } = around;
  const rpc = (method: string, ...params: readonly unknown[]): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const signed =
    (mayBeSigned: boolean) =>
    (body: string): DoorBody => ({ path: '', body, mayBeSigned });
  const data = fc.oneof(
    bytes(32),
    bytes(32).map((hash): Hex => `0x1901${hash.slice(2)}${hash.slice(2)}`),
  );
  const authorization = authorizations(around);
  const rest =
    (path: string, mayBeSigned: boolean) =>
    (hex: string): DoorBody => ({
      ...{ path, mayBeSigned },
      body: JSON.stringify({ data: hex }),
    });
  const sign = `/api/v1/eth1/sign/${key}`;
  return fc.oneof(
    { weight: 4, arbitrary: calls(around, whole).map(signed(true)) },
    fc.jsonValue().map((one) => signed(true)(JSON.stringify(one))),
    fc.string().map(signed(true)),
    permits(around).map((typed) => signed(false)(rpc('eth_signTypedData_v4', from, JSON.stringify(typed)))),
    permits(around).map((typed) => signed(false)(rpc('account_signTypedData', from, typed))),
    permits(around).map((typed) => signed(false)(rpc('account_signData', 'data/typed', from, typed))),
    data.map((hash) => signed(false)(rpc('personal_sign', hash, from))),
    data.map((hash) => signed(false)(rpc('account_signData', 'text/plain', from, hash))),
    data.map(rest(sign, false)),
    authorization.map((hex) => signed(false)(rpc('personal_sign', hex, from))),
    authorization.map(rest(sign, false)),
    { weight: 2, arbitrary: rawTransactions(around).map(rest(sign, true)) },
    rawTransactions(around).map((hex) => signed(false)(rpc('account_signData', 'text/plain', from, hex))),
    fc
      .tuple(data, fc.constantFrom(key.slice(0, -2), `${key}00`, '', '0x'))
      .map(([hash, wrong]) => rest(`/api/v1/eth1/sign/${wrong}`, false)(hash)),
  );
}

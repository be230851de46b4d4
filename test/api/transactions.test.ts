/** Transactions signed through a real vault, as each chain's own library makes and checks them. */
import {
  address,
  appendTransactionMessageInstruction,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getBase58Decoder,
  getTransactionDecoder,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { hash } from 'node:crypto';
import * as bitcoinjs from 'bitcoinjs-lib';
import * as tiny from 'tiny-secp256k1';
import { TronWeb, utils } from 'tronweb';
import {
  concat,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  keccak256,
  maxUint256,
  parseAbi,
  recoverTransactionAddress,
  serializeTransaction,
  toHex,
  type TransactionSerialized,
} from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyEd25519 } from '../../main/crypto/keys/ed25519.ts';
import { insertPolicy } from '../../main/storage/tables/policies.ts';
import { fundedPsbt } from '../support/funded-psbt.ts';
import eip712 from '../vectors/eip712.json' with { type: 'json' };
import {
  ethereumAccount,
  resultOf,
  startTestVault,
  type Answer,
  type Json,
  type TestClient,
  type TestVault,
} from '../support/support.ts';

bitcoinjs.initEccLib(tiny);

let service: TestVault;
let root: TestClient;
/** Address and public key by format. */
const accounts = new Map<string, { readonly address: string; readonly publicKey: string }>();

const formats = {
  ADDRESS_FORMAT_ETHEREUM: ["m/44'/60'/0'/0/0", 'CURVE_SECP256K1'],
  ADDRESS_FORMAT_SOLANA: ["m/44'/501'/0'/0'", 'CURVE_ED25519'],
  ADDRESS_FORMAT_TRON: ["m/44'/195'/0'", 'CURVE_SECP256K1'],
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH: ["m/84'/1'/0'/0/0", 'CURVE_SECP256K1'],
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR: ["m/86'/1'/0'/0/0", 'CURVE_SECP256K1'],
} as const;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
  const made = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Chains',
    accounts: Object.entries(formats).map(([addressFormat, [path, curve]]) => ({
      ...ethereumAccount,
      addressFormat,
      path,
      curve,
    })),
  });
  const { walletId } = resultOf(made);
  const listed = await root.query('list_wallet_accounts', { walletId });
  for (const account of (
    listed.body as {
      accounts: {
        addressFormat: string;
        address: string;
        publicKey: string;
      }[];
    }
  ).accounts) {
    accounts.set(account.addressFormat, account);
  }
});
afterAll(() => service[Symbol.asyncDispose]());

function accountOf(format: keyof typeof formats): { readonly address: string; readonly publicKey: string } {
  const account = accounts.get(format);
  if (account === undefined) throw new Error(`no account of ${format}`);
  return account;
}

const sign = (signWith: string, type: string, unsignedTransaction: string): Promise<Answer> =>
  root.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    signWith,
    unsignedTransaction,
    type: `TRANSACTION_TYPE_${type}`,
  });

async function signed(format: keyof typeof formats, type: string, hex: string): Promise<string> {
  const answer = await sign(accountOf(format).address, type, hex);
  return resultOf(answer).signedTransaction;
}

const bytes = (hex: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(hex, 'hex'));

const ethereum = serializeTransaction({
  type: 'eip1559',
  chainId: 1,
  nonce: 3,
  to: '0x3535353535353535353535353535353535353535',
  value: 10n ** 18n,
  gas: 21_000n,
  maxFeePerGas: 30n * 10n ** 9n,
  maxPriorityFeePerGas: 10n ** 9n,
});

function solana(payer: string): string {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (each) => setTransactionMessageFeePayer(address(payer), each),
    (each) =>
      setTransactionMessageLifetimeUsingBlockhash(
        {
          blockhash: blockhash(getBase58Decoder().decode(new Uint8Array(32).fill(5))),
          lastValidBlockHeight: 1n,
        },
        each,
      ),
    (each) =>
      appendTransactionMessageInstruction(
        {
          programAddress: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
          data: Uint8Array.from(Buffer.from('memo')),
        },
        each,
      ),
  );
  return Buffer.from(getTransactionEncoder().encode(compileTransaction(message))).toString('hex');
}

function tron(owner: string): string {
  const value = {
    owner_address: TronWeb.address.toHex(owner),
    to_address: TronWeb.address.toHex('TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf'),
    amount: 5_000_000,
  };
  const type = 'TransferContract';
  return utils.transaction
    .txPbToRawDataHex(
      utils.transaction.txJsonToPb({
        raw_data: {
          contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
          ref_block_bytes: '5e4b',
          ref_block_hash: '47c9dc89341b300d',
          expiration: 1_591_089_627_000,
          timestamp: 1_591_089_567_635,
        },
      }),
    )
    .toLowerCase();
}

const psbtHex = (address: string): string => fundedPsbt(address).toHex();

describe('each chain', () => {
  test.each(['', '0x'])('Ethereum, with the prefix "%s"', async (prefix) => {
    const hex = await signed('ADDRESS_FORMAT_ETHEREUM', 'ETHEREUM', `${prefix}${ethereum.slice(2)}`);
    expect(hex).toMatch(/^02f8/);
    const sender = await recoverTransactionAddress({
      serializedTransaction: `0x${hex}` as TransactionSerialized,
    });
    expect(sender).toBe(accountOf('ADDRESS_FORMAT_ETHEREUM').address);
  });

  test('Solana', async () => {
    const { address: payer, publicKey } = accountOf('ADDRESS_FORMAT_SOLANA');
    const hex = await signed('ADDRESS_FORMAT_SOLANA', 'SOLANA', solana(payer));
    const { messageBytes, signatures } = getTransactionDecoder().decode(bytes(hex));
    const signature = signatures[address(payer)];
    expect(verifyEd25519(publicKey, Uint8Array.from(signature ?? []), Uint8Array.from(messageBytes))).toBe(
      true,
    );
  });

  test('Tron', async () => {
    const { address: owner } = accountOf('ADDRESS_FORMAT_TRON');
    const raw = tron(owner);
    const hex = await signed('ADDRESS_FORMAT_TRON', 'TRON', raw);
    const id = hash('sha256', bytes(raw));
    expect(hex).toContain(raw);
    expect(TronWeb.address.fromHex(utils.crypto.ecRecover(id, `0x${hex.slice(-130)}`))).toBe(owner);
  });

  test.each(['ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH', 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'] as const)(
    'Bitcoin, %s',
    async (format) => {
      const hex = await signed(format, 'BITCOIN', psbtHex(accountOf(format).address));
      const [input] = bitcoinjs.Psbt.fromHex(hex).data.inputs;
      expect(input?.finalScriptWitness).toBeUndefined();
      expect(input?.partialSig ?? input?.tapKeySig).toBeDefined();
    },
  );

  test('the first version names the private key’s id', async () => {
    const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [
        {
          privateKeyName: 'Signs',
          curve: 'CURVE_SECP256K1',
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
          privateKeyTags: [],
        },
      ],
    });
    const [key] = resultOf(made).privateKeys;
    if (key === undefined) throw new Error('no key');
    const answer = await root.submit('sign_transaction', 'SIGN_TRANSACTION', {
      privateKeyId: key.privateKeyId,
      unsignedTransaction: ethereum,
      type: 'TRANSACTION_TYPE_ETHEREUM',
    });
    const hex = resultOf(answer).signedTransaction;
    expect(
      await recoverTransactionAddress({ serializedTransaction: `0x${hex}` as TransactionSerialized }),
    ).toBe(key.addresses[0]?.address);
  });
});

describe('what is refused', () => {
  const errorOf = ({ status, body }: Answer): unknown => [
    status,
    body?.['turnkeyErrorCode'],
    body?.['message'],
  ];

  test.each([
    ['ADDRESS_FORMAT_SOLANA', 'ETHEREUM', 'signed by keys on CURVE_SECP256K1, this one is on CURVE_ED25519'],
    ['ADDRESS_FORMAT_ETHEREUM', 'SOLANA', 'signed by keys on CURVE_ED25519'],
    [
      'ADDRESS_FORMAT_TRON',
      'ETHEREUM',
      'signed for an address of Ethereum, this one is of ADDRESS_FORMAT_TRON',
    ],
    ['ADDRESS_FORMAT_ETHEREUM', 'BITCOIN', 'signed for an address of Bitcoin'],
  ] as const)('a key of %s for %s', async (format, type, expected) => {
    const answer = await sign(accountOf(format).address, type, ethereum);
    expect(errorOf(answer)).toEqual([400, 'REQUEST_INVALID', expect.stringContaining(expected)]);
  });

  test('another chain’s transaction', async () => {
    const { address: payer } = accountOf('ADDRESS_FORMAT_SOLANA');
    const answer = await sign(accountOf('ADDRESS_FORMAT_ETHEREUM').address, 'ETHEREUM', solana(payer));
    expect(errorOf(answer)).toEqual([
      400,
      'INVALID_TRANSACTION',
      expect.stringContaining('expected an unsigned Ethereum transaction in RLP'),
    ]);
  });

  test('a transaction that another must sign', async () => {
    const stranger = getBase58Decoder().decode(new Uint8Array(32).fill(3));
    const answer = await sign(accountOf('ADDRESS_FORMAT_SOLANA').address, 'SOLANA', solana(stranger));
    expect(errorOf(answer)).toEqual([400, 'INVALID_TRANSACTION', expect.stringContaining(stranger)]);
  });

  test('Tempo', async () => {
    const answer = await sign(accountOf('ADDRESS_FORMAT_ETHEREUM').address, 'TEMPO', ethereum);
    expect(errorOf(answer)).toEqual([
      400,
      'UNSUPPORTED_TRANSACTION_TYPE',
      expect.stringContaining('expected one of TRANSACTION_TYPE_ETHEREUM'),
    ]);
  });
});

describe('what policies read', () => {
  let client: TestClient;
  let policies = 0;

  beforeAll(async () => {
    ({ client } = await service.newUser('Limited'));
  });

  /** Answers the status for a user who may sign only by a policy with this condition. */
  async function allowed(condition: string, signWith: string, type: string, hex: string): Promise<number> {
    policies += 1;
    const id = `4f0f8b6e-9a1c-4c6e-8d6b-${String(policies).padStart(12, '0')}`;
    await service.vault.units.write((tx) => {
      insertPolicy(tx, {
        id,
        organizationId: service.organizationId,
        name: `Policy ${String(policies)}`,
        effect: 'EFFECT_ALLOW',
        condition,
        consensus: '',
        time: null,
        notes: '',
        createdAt: 1,
        updatedAt: 1,
      });
    });
    const answer = await client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith,
      unsignedTransaction: hex,
      type: `TRANSACTION_TYPE_${type}`,
    });
    await service.vault.units.write((tx) => {
      tx.run('DELETE FROM policies WHERE id = ?', id);
    });
    return answer.status;
  }

  const conditions: readonly (readonly [
    keyof typeof formats,
    string,
    (own: string) => string,
    string,
    number,
  ])[] = [
    [
      'ADDRESS_FORMAT_ETHEREUM',
      'ETHEREUM',
      () => ethereum,
      "eth.tx.to == '0x3535353535353535353535353535353535353535' && eth.tx.value <= 1000000000000000000",
      200,
    ],
    ['ADDRESS_FORMAT_ETHEREUM', 'ETHEREUM', () => ethereum, 'eth.tx.value < 1000000000000000000', 403],
    [
      'ADDRESS_FORMAT_ETHEREUM',
      'ETHEREUM',
      () => ethereum,
      "eth.tx.type == 'TYPE_2' && eth.tx.gas_price == eth.tx.max_fee_per_gas && eth.tx.chain_id == 1 && eth.tx.nonce <= 3",
      200,
    ],
    ['ADDRESS_FORMAT_ETHEREUM', 'ETHEREUM', () => ethereum, 'eth.tx.from == wallet_account.address', 200],
    [
      'ADDRESS_FORMAT_ETHEREUM',
      'ETHEREUM',
      () => ethereum,
      "activity.params.type == 'TRANSACTION_TYPE_ETHEREUM' && activity.kind == 'SIGN_TRANSACTION'",
      200,
    ],
    // A fact of another chain's transaction is missing here.
    ['ADDRESS_FORMAT_ETHEREUM', 'ETHEREUM', () => ethereum, 'bitcoin.tx.fee <= 10000', 403],
    [
      'ADDRESS_FORMAT_SOLANA',
      'SOLANA',
      solana,
      "solana.tx.program_keys.all(p, p == 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr') && solana.tx.transfers.count() == 0 && solana.tx.instructions[0].instruction_data_hex == '6d656d6f'",
      200,
    ],
    [
      'ADDRESS_FORMAT_TRON',
      'TRON',
      tron,
      "tron.tx.contract[0].type == 'TransferContract' && tron.tx.contract[0].amount < 10000000",
      200,
    ],
    ['ADDRESS_FORMAT_TRON', 'TRON', tron, 'tron.tx.contract[0].amount < 5000000', 403],
    [
      'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
      'BITCOIN',
      psbtHex,
      "bitcoin.tx.outputs.all(o, o.address == wallet_account.address && o.value < 200000 && o.address_type == 'p2wpkh') && bitcoin.tx.fee <= 1000 && bitcoin.tx.locktime.type == 'Blocks'",
      200,
    ],
    ['ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH', 'BITCOIN', psbtHex, 'bitcoin.tx.fee < 1000', 403],
  ];
  test.each(conditions)('%s, %s: %#', async (format, type, make, condition, expected) => {
    const { address: own } = accountOf(format);
    expect(await allowed(condition, own, type, make(own))).toBe(expected);
  });

  describe('of calls, by interfaces', () => {
    const contract = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
    const abi = parseAbi(['function transfer(address dst, uint256 wad)']);
    const data = encodeFunctionData({
      abi,
      functionName: 'transfer',
      args: ['0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7', 7n],
    });
    const call = serializeTransaction({ type: 'eip1559', chainId: 1, to: contract, data });
    const condition =
      "eth.tx.function_name == 'transfer' && eth.tx.function_signature == '0xa9059cbb' && eth.tx.contract_call_args['wad'] < 1000000000000000000 && eth.tx.contract_call_args['dst'] == '0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7'";
    const create = (more: object = {}): Promise<Answer> =>
      root.submit('create_smart_contract_interface', 'CREATE_SMART_CONTRACT_INTERFACE', {
        smartContractAddress: contract,
        smartContractInterface: JSON.stringify(abi),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'WETH',
        ...more,
      });
    const statusOf = (): Promise<number> =>
      allowed(condition, accountOf('ADDRESS_FORMAT_ETHEREUM').address, 'ETHEREUM', call);

    test('are available from their creation until they are deleted', async () => {
      expect(await statusOf()).toBe(403);
      const { smartContractInterfaceId } = resultOf(await create());
      expect(await statusOf()).toBe(200);
      const again = await create();
      expect([again.status, again.body?.['message']]).toEqual([
        409,
        expect.stringContaining('delete it first'),
      ]);
      const organization = await root.query('get_organization');
      expect(organization.body?.['organizationData']).toMatchObject({
        smartContractInterfaceReferences: [
          { smartContractInterfaceId, smartContractAddress: getAddress(contract) },
        ],
      });
      await root.submit('delete_smart_contract_interface', 'DELETE_SMART_CONTRACT_INTERFACE', {
        smartContractInterfaceId,
      });
      expect(await statusOf()).toBe(403);
      const gone = await root.query('get_smart_contract_interface', { smartContractInterfaceId });
      expect(gone.status).toBe(404);
    });

    test('of a program', async () => {
      const program = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
      const made = await create({
        smartContractAddress: program,
        smartContractInterface: JSON.stringify({
          instructions: [
            {
              name: 'note',
              discriminator: [0x6d],
              accounts: [],
              args: [{ name: 'text', type: { array: ['u8', 3] } }],
            },
          ],
          types: [],
        }),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
      });
      expect(made.status).toBe(200);
      const { address: payer } = accountOf('ADDRESS_FORMAT_SOLANA');
      expect(
        await allowed(
          "solana.tx.instructions.all(i, i.parsed_instruction_data.instruction_name == 'note' && i.parsed_instruction_data.program_call_args['text'][0] == 101)",
          payer,
          'SOLANA',
          solana(payer),
        ),
      ).toBe(200);
    });

    test.each([
      [{ smartContractInterface: '{}' }, 'expected an ABI as a JSON array'],
      [{ smartContractInterface: 'no' }, 'expected JSON'],
      [{ smartContractAddress: '0x12' }, 'expected an Ethereum address'],
      [{ type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA' }, 'expected Base58'],
    ])('%j is refused', async (more, expected) => {
      const { status, body } = await create(more);
      expect([status, body?.['message']]).toEqual([400, expect.stringContaining(expected)]);
    });
  });
});

describe('describe_payload', () => {
  interface Described {
    readonly title: string;
    readonly lines: readonly { readonly label: string; readonly value: string }[];
    readonly parts: readonly { readonly title: string }[];
    readonly warnings: readonly string[];
    readonly digests: readonly { readonly label: string; readonly value: string }[];
  }
  async function describing(parameters: Json): Promise<Described> {
    const { status, body, text } = await root.query('describe_payload', parameters);
    if (status !== 200) throw new Error(text);
    return body?.['description'] as Described;
  }
  const transaction = (type: string, unsignedTransaction: string, more: Json = {}): Promise<Described> =>
    describing({ type: `TRANSACTION_TYPE_${type}`, unsignedTransaction, ...more });
  const raw = (payload: string, hashFunction: string, more: Json = {}): Promise<Described> =>
    describing({
      payload,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: `HASH_FUNCTION_${hashFunction}`,
      ...more,
    });

  test('a transfer of Ethereum', async () => {
    const { title, lines, warnings } = await transaction('ETHEREUM', ethereum);
    expect(title).toBe(
      'Send 1 ETH to 0x3535353535353535353535353535353535353535, with a fee of at most 0.00063 ETH',
    );
    expect(lines).toContainEqual({ label: 'Fee at most', value: '0.00063 ETH' });
    expect(lines).toContainEqual({ label: 'Network', value: 'Ethereum' });
    expect(warnings).toEqual([]);
  });

  test('an approval without limit, with ERC-8213’s digest of its data', async () => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: ['0x3535353535353535353535353535353535353535', maxUint256],
    });
    const { title, warnings, digests } = await transaction(
      'ETHEREUM',
      serializeTransaction({ type: 'eip1559', chainId: 8453, to: getAddress(`0x${'ab'.repeat(20)}`), data }),
    );
    expect(title).toContain(
      `Let 0x3535353535353535353535353535353535353535 spend the token ${getAddress(`0x${'ab'.repeat(20)}`)} without limit`,
    );
    expect(warnings.join(' ')).toMatch(
      /0x3535353535353535353535353535353535353535 may then spend .*without limit/,
    );
    // This chain charges for data beyond the gas.
    expect(title).toContain('and more for the data');
    expect(digests).toEqual([
      {
        label: 'Calldata digest',
        value: keccak256(concat([toHex(BigInt((data.length - 2) / 2), { size: 32 }), data])),
      },
    ]);
  });

  test('an address that only begins and ends like one of ours is marked as foreign', async () => {
    const own = accountOf('ADDRESS_FORMAT_ETHEREUM').address;
    const poison = getAddress(
      `${own.slice(0, 6).toLowerCase()}${'0'.repeat(32)}${own.slice(-4).toLowerCase()}`,
    );
    const { warnings } = await transaction(
      'ETHEREUM',
      serializeTransaction({ type: 'eip1559', chainId: 1, to: poison, value: 1n }),
    );
    expect(warnings).toEqual([
      `${poison} is not yours. It begins and ends like your address ${own}: compare every character.`,
    ]);
    const { title, warnings: none } = await transaction(
      'ETHEREUM',
      serializeTransaction({ type: 'eip1559', chainId: 1, to: getAddress(own), value: 1n }),
    );
    expect([title, none]).toEqual([expect.stringContaining('Chains'), []]);
  });

  test('an empty text is described as well', async () => {
    expect((await raw('', 'SHA256')).lines).toContainEqual({ label: 'Size', value: '0 bytes' });
  });

  test('a call that is unreadable', async () => {
    const { warnings } = await transaction(
      'ETHEREUM',
      serializeTransaction({
        type: 'eip1559',
        chainId: 1,
        to: getAddress(`0x${'ab'.repeat(20)}`),
        data: '0x12345678',
      }),
    );
    expect(warnings).toEqual([expect.stringContaining('does not know what the call does')]);
  });

  test('Solana, Tron and Bitcoin', async () => {
    const { address: payer } = accountOf('ADDRESS_FORMAT_SOLANA');
    expect((await transaction('SOLANA', solana(payer))).parts).toMatchObject([
      { title: expect.stringMatching(/Memo|Call note/) as string },
    ]);
    const { address: owner } = accountOf('ADDRESS_FORMAT_TRON');
    expect((await transaction('TRON', tron(owner), { signWith: owner })).title).toMatch(
      /^Send 5 TRX to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf, with a fee of at most [0-9.]+ TRX$/,
    );
    const { address: own } = accountOf('ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH');
    const { lines, parts } = await transaction('BITCOIN', psbtHex(own), { signWith: own });
    expect(lines).toContainEqual({ label: 'Fee', value: '0.00001 BTC (1000 satoshis)' });
    expect(parts).toMatchObject([{ title: `Send 0.00099 BTC back to your Chains, ${own}` }]);
  });

  test('what cannot be read', async () => {
    const { title, warnings } = await transaction('ETHEREUM', '0x05c0');
    expect(title).toBe('A transaction of Ethereum that cannot be read');
    expect(warnings).toHaveLength(1);
  });

  test('typed data, with the digests of ERC-8213', async () => {
    const [mail] = eip712.vectors;
    const { title, digests, parts } = await describing({
      payload: JSON.stringify(mail?.typedData),
      encoding: 'PAYLOAD_ENCODING_EIP712',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(title).toBe('Sign “Mail” for “Ether Mail”');
    expect(digests.map(({ label }) => label)).toEqual(['EIP-712 digest', 'Domain hash', 'Message hash']);
    expect(digests[0]?.value).toBe(mail?.digest);
    expect(parts[0]?.title).toBe('Message');
  });

  test('bytes that are hashed and happen to be a transaction', async () => {
    const { title, warnings } = await raw(ethereum, 'KECCAK256');
    expect(title).toContain('Send 1 ETH');
    expect(warnings).toEqual([expect.stringContaining('a chain accepts them as what is shown here')]);
    expect((await raw('00ff00', 'KECCAK256')).warnings).toEqual([
      expect.stringContaining('cannot read these bytes'),
    ]);
    expect((await raw(Buffer.from('hello').toString('hex'), 'SHA256')).title).toBe('Sign a text');
  });

  test('a hash, which says nothing, and with its preimage says all', async () => {
    const hash = keccak256(ethereum);
    expect((await raw(hash, 'NO_OP')).warnings).toEqual([expect.stringContaining('does not tell')]);
    const preimage = { bytes: ethereum, hashFunction: 'HASH_FUNCTION_KECCAK256' };
    expect((await raw(hash, 'NO_OP', { preimage })).title).toContain('Send 1 ETH');
  });

  test('signing takes the preimage, and refuses one of another hash', async () => {
    const request = {
      signWith: accountOf('ADDRESS_FORMAT_ETHEREUM').address,
      payload: keccak256(ethereum),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    };
    const signing = (bytes: string, more: object = {}): Promise<Answer> =>
      root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        ...request,
        preimage: { bytes, hashFunction: 'HASH_FUNCTION_KECCAK256' },
        ...more,
      });
    expect(resultOf(await signing(ethereum)).r).toHaveLength(64);
    const wrong = await signing(`${ethereum}00`);
    expect([wrong.status, wrong.body?.['message']]).toEqual([
      400,
      expect.stringContaining('whose HASH_FUNCTION_KECCAK256 is another'),
    ]);
    const noHash = await signing(ethereum, { hashFunction: 'HASH_FUNCTION_KECCAK256' });
    expect([noHash.status, noHash.body?.['message']]).toEqual([
      400,
      expect.stringContaining('expected none but of a hash'),
    ]);
  });
});

/** Tron's transactions as tronweb takes them apart, for the law of one reading. */
import 'tronweb';
import { tron } from '../../main/chains/tron/chain.ts';
import { mutateBytes, type LawOptions, type Random } from './law.ts';
import {
  call,
  callData,
  context,
  contractOf,
  examples,
  receiver,
  transaction,
  usdt,
  written,
} from './tron-transactions.ts';

interface TronMessage {
  readonly toObject: () => Record<string, unknown>;
}
interface TronMessageType {
  readonly deserializeBinary: (bytes: Uint8Array) => TronMessage;
}

/** The classes that tronweb has of Tron's messages, by name. */
const { TronWebProto: messages } = globalThis as unknown as {
  readonly TronWebProto: Readonly<Record<string, TronMessageType>> & {
    readonly Transaction: {
      readonly raw: TronMessageType;
      readonly Contract: { readonly ContractType: Readonly<Record<string, number>> };
    };
  };
};

const names = new Map(
  Object.entries(messages.Transaction.Contract.ContractType).map(([name, number]) => [number, name]),
);

/** Names of types have no case in tronweb’s table. */
const typeNames = new Map(Object.keys(messages).map((name) => [name.toUpperCase(), name]));

interface RawObject {
  readonly contractList: readonly {
    readonly type: number;
    readonly parameter?: { readonly typeUrl: string; readonly value: string };
    readonly permissionId: number;
  }[];
}

/** Tells the transaction’s effects in tronweb’s reading. Nodes pass over the number of the block. */
function effects(bytes: Uint8Array): string {
  try {
    const { contractList, ...raw } = messages.Transaction.raw
      .deserializeBinary(bytes)
      .toObject() as unknown as RawObject;
    const contracts = contractList.map(({ type, parameter, ...contract }) => {
      const name = typeNames.get(names.get(type) ?? '') ?? '';
      const value = Buffer.from(parameter?.value ?? '', 'base64');
      return [
        type,
        contract,
        parameter?.typeUrl,
        messages[name]?.deserializeBinary(value).toObject() ?? value,
      ];
    });
    return JSON.stringify([{ ...raw, refBlockNum: 0 }, contracts]);
  } catch {
    // Bytes that tronweb cannot read are another transaction with every change.
    return Buffer.from(bytes).toString('hex');
  }
}

const originals = [
  ...examples.map(([type, value]) => transaction(type, value, { data: '6d656d6f', fee_limit: 77 })),
  transaction('TransferContract', examples[1]?.[1], { Permission_id: 2 }),
  call(usdt, callData('a9059cbb', receiver, 1_250_000_000n)),
  call(usdt, callData('095ea7b3', receiver, 2n ** 256n - 1n)),
  call(receiver, callData('23b872dd', usdt, receiver, 5n), { call_value: 9 }),
  contractOf(
    52,
    'MarketSellAssetContract',
    written((value) => {
      value.writeStringField(2, '_');
      value.writeVarintField(3, 4);
    }),
  ),
];

/** Changes a field of `raw_data`, or the bytes of a contract’s value and the lengths around them. */
function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const [type, value] = random.pick(examples);
  if (random.below(3) === 0) {
    return transaction(type, value, {
      Permission_id: random.below(3),
      fee_limit: random.below(2) * 5,
      data: random.pick(['', '6d', '6d656d6f', 'ff']),
    });
  }
  const contract = contractIn(bytes);
  if (contract === undefined) return mutateBytes(bytes, random);
  const changed = mutateBytes(contract.value, random);
  return contractOf(contract.number, contract.name, changed, random.pick([undefined, 1, 2]));
}

function contractIn(bytes: Uint8Array) {
  try {
    const { contractList } = messages.Transaction.raw
      .deserializeBinary(bytes)
      .toObject() as unknown as RawObject;
    const [{ type, parameter } = {}] = contractList;
    const name = parameter?.typeUrl.split('.').at(-1);
    return type === undefined || parameter === undefined || name === undefined
      ? undefined
      : { number: type, name, value: new Uint8Array(Buffer.from(parameter.value, 'base64')) };
  } catch {
    return undefined;
  }
}

export const tronLaw: Omit<LawOptions, 'reads' | 'tries' | 'seed'> = {
  originals,
  mutate,
  effects,
  read(bytes) {
    const opened = tron.open(bytes, context());
    return opened.ok
      ? { description: opened.value.describe(), facts: opened.value.facts['tron.tx']?.() }
      : undefined;
  },
};

/** `keyhearth addresses`: names for addresses of others. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { agreeToDelete } from '../requests/agree.ts';
import type { ApiOptions } from '../shared/options.ts';
import { activityKind, VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { didYouMean } from '../shared/suggestions.ts';
import { table } from '../shared/table.ts';

const addActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_KNOWN_ADDRESS',
  result: z.object({ knownAddressId: z.string() }),
  options: { 'parameters.name': '<name>', 'parameters.address': '<address>' },
  isOfUseLater: true,
});

const removeActivity = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_KNOWN_ADDRESS',
  result: z.object({ knownAddressId: z.string() }),
  isOfUseLater: true,
});

const listAnswer = z.object({
  knownAddresses: z.array(z.object({ knownAddressId: z.string(), name: z.string(), address: z.string() })),
});

export async function listAddresses(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { knownAddresses } = await api.query('list_known_addresses', listAnswer, {});
  print(
    json,
    { addresses: knownAddresses },
    knownAddresses.length === 0
      ? 'No addresses have a name. Name one with: keyhearth addresses add NAME ADDRESS'
      : table(
          ['Name', 'Address'],
          knownAddresses.map(({ name, address }) => [visibleName(name), address]),
        ),
  );
}

export async function addAddress(
  config: Config,
  wanted: { readonly name: string; readonly address: string },
  { apiKey, json }: ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { knownAddressId } = await api.submit(addActivity, wanted);
  print(json, { knownAddressId, ...wanted }, `${wanted.address} has the name ${visibleName(wanted.name)}.`);
}

export async function removeAddress(
  config: Config,
  wanted: string,
  { apiKey, json, yes }: ApiOptions & { readonly yes?: boolean },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { knownAddresses } = await api.query('list_known_addresses', listAnswer, {});
  const found = knownAddresses.find(({ name, address }) => name === wanted || address === wanted);
  if (found === undefined) {
    throw new CommandError(
      exitCodes.failed,
      `no address has the name ${quoted(wanted)}: \`keyhearth addresses list\` lists all${didYouMean(
        wanted,
        knownAddresses.map(({ name }) => name),
      )}`,
    );
  }
  const { knownAddressId, name, address } = found;
  await agreeToDelete(`the name ${name} of ${address}`, yes);
  await api.submit(removeActivity, { knownAddressId });
  print(json, { knownAddressId, name, address }, `${address} has no name.`);
}

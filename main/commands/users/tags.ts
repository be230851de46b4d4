/** `keyhearth users tags`: the tags of users. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { count } from '../backup/backup.ts';
import { agreeToDelete } from '../requests/agree.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind, type Api } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { table } from '../shared/table.ts';

const createTagActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  result: z.object({ userTagId: z.string() }),
  options: { 'parameters.userTagName': '<name>', 'parameters.userIds': '--user' },
  isOfUseLater: true,
});

const changeTagActivity = activityKind({
  type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
  result: z.object({ userTagId: z.string() }),
  options: {
    'parameters.newUserTagName': '--name',
    'parameters.addUserIds': '--add',
    'parameters.removeUserIds': '--remove',
  },
  isOfUseLater: true,
});

const deleteTagsActivity = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
  result: z.object({ userTagIds: z.array(z.string()) }),
  isOfUseLater: true,
});

export async function listTags(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const userTags = await listings.tag.all(api);
  const users = await listings.user.all(api);
  const tags = userTags.map(({ tagId, tagName }) => ({
    tagId,
    tagName,
    users: users
      .filter((user) => user.userTags.includes(tagId))
      .map(({ userId, userName }) => ({ userId, userName })),
  }));
  print(
    json,
    { tags },
    tags.length === 0
      ? 'No tags. Create one with: keyhearth users tags create NAME'
      : table(
          ['ID', 'Name', 'Users'],
          tags.map(({ tagId, tagName, users: holders }) => [
            tagId,
            tagName,
            holders.map(({ userName }) => visibleName(userName)).join(', '),
          ]),
        ),
  );
}

export async function createTag(
  config: Config,
  userTagName: string,
  { apiKey, json, user }: ApiOptions & { readonly user: readonly string[] },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const userIds = await idsOfUsers(api, user);
  const { userTagId } = await api.submit(createTagActivity, { userTagName, userIds });
  print(
    json,
    { tagId: userTagId, tagName: userTagName },
    `Created tag ${JSON.stringify(userTagName)}: ${userTagId}`,
  );
}

export async function changeTag(
  config: Config,
  wanted: string,
  {
    apiKey,
    json,
    name,
    add,
    remove,
  }: ApiOptions & {
    readonly name?: string;
    readonly add: readonly string[];
    readonly remove: readonly string[];
  },
): Promise<void> {
  if (name === undefined && add.length === 0 && remove.length === 0) {
    throw new CommandError(exitCodes.usage, 'expected --name, --add or --remove');
  }
  const api = await VaultApi.connect(config, apiKey);
  const [tag] = await listings.tag.findEach(api, [wanted]);
  const { userTagId } = await api.submit(changeTagActivity, {
    userTagId: tag?.tagId ?? '',
    ...defined({ newUserTagName: name }),
    addUserIds: await idsOfUsers(api, add),
    removeUserIds: await idsOfUsers(api, remove),
  });
  print(json, { tagId: userTagId, tagName: name ?? tag?.tagName }, `Changed tag ${userTagId}.`);
}

export async function deleteTags(
  config: Config,
  wanted: readonly string[],
  { apiKey, json, yes }: ApiOptions & { readonly yes?: boolean },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const tags = await listings.tag.findEach(api, wanted);
  await agreeToDelete(tags.map(({ tagName }) => JSON.stringify(tagName)).join(', '), yes);
  const tagIds = tags.map(({ tagId }) => tagId);
  await api.submit(deleteTagsActivity, { userTagIds: tagIds });
  print(json, { tagIds }, `Deleted ${count(tagIds.length, 'tag')}.`);
}

const idsOfUsers = async (api: Api, wanted: readonly string[]): Promise<readonly string[]> =>
  (await listings.user.findEach(api, wanted)).map(({ userId }) => userId);

/** The tags of private keys by which doors offer them. */
import { z } from 'zod';
import { activityKind, type Api } from '../shared/api.ts';

export const keyTagList = z.object({
  privateKeyTags: z.array(z.object({ tagId: z.string(), tagName: z.string() })),
});

const createKeyTagActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
  result: z.object({ privateKeyTagId: z.string() }),
});

export const changeKeyTagActivity = activityKind({
  type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
  result: z.object({ privateKeyTagId: z.string() }),
});

/** @returns the id of the tag, which is created where it is missing. */
export async function keyTag(api: Api, name: string): Promise<string> {
  const { privateKeyTags } = await api.query('list_private_key_tags', keyTagList, {});
  const known = privateKeyTags.find(({ tagName }) => tagName === name);
  if (known !== undefined) return known.tagId;
  const wanted = { privateKeyTagName: name, privateKeyIds: [] };
  return (await api.submit(createKeyTagActivity, wanted)).privateKeyTagId;
}

/** The organization as a whole, and who is asking. */
import { z } from 'zod';
import { activity, query } from '../activities/define.ts';
import { getOrganization, renameOrganization } from '../db/organizations.ts';
import { listPrivateKeyRows, toPrivateKey } from '../db/private-keys.ts';
import { listTagRows, toTag } from '../db/tags.ts';
import { getUserRow, listRootUserIds, listUserRows, toUser } from '../db/users.ts';
import { listWalletRows, toWallet } from '../db/wallets.ts';
import { found, name } from './parameters.ts';

const missing = 'no organization found with the given ID';

export const whoami = query({
  path: 'whoami',
  params: z.object({}),
  run({ tx, organizationId, caller }) {
    const user = found(getUserRow(tx, organizationId, caller.userId), `unable to find user ${caller.userId}`);
    const organization = found(getOrganization(tx, organizationId), missing);
    return {
      organizationId,
      organizationName: organization.name,
      userId: user.id,
      username: user.name,
    };
  },
});

export const getOrganizationData = query({
  path: 'get_organization',
  params: z.object({}),
  run({ tx, organizationId }) {
    const organization = found(getOrganization(tx, organizationId), missing);
    return {
      organizationData: {
        organizationId,
        name: organization.name,
        users: listUserRows(tx, organizationId).map((row) => toUser(tx, row)),
        policies: [],
        privateKeys: listPrivateKeyRows(tx, organizationId).map((row) => toPrivateKey(tx, row)),
        invitations: [],
        tags: [
          ...listTagRows(tx, organizationId, 'TAG_TYPE_USER'),
          ...listTagRows(tx, organizationId, 'TAG_TYPE_PRIVATE_KEY'),
        ].map(toTag),
        rootQuorum: {
          threshold: organization.rootQuorumThreshold,
          userIds: listRootUserIds(tx, organizationId),
        },
        features: [],
        wallets: listWalletRows(tx, organizationId).map(toWallet),
        smartContractInterfaceReferences: [],
      },
    };
  },
});

export const updateOrganizationName = activity({
  path: 'update_organization_name',
  type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
  intent: 'updateOrganizationNameIntent',
  result: 'updateOrganizationNameResult',
  params: z.object({ organizationName: name }),
  run({ tx, organizationId, params: { organizationName }, now }) {
    renameOrganization(tx, organizationId, organizationName, now);
    return { organizationId, organizationName };
  },
});

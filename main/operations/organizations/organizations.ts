/** The organization as a whole, and who is asking. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import type { Reader } from '../../storage/connection.ts';
import { listFeatures } from '../../storage/tables/features.ts';
import {
  getOrganization,
  renameOrganization,
  type OrganizationRow,
} from '../../storage/tables/organizations.ts';
import { listPolicyRows, toPolicy } from '../../storage/tables/policies.ts';
import { listPrivateKeyRows, toPrivateKey } from '../../storage/tables/private-keys.ts';
import { listInterfaceRows } from '../../storage/tables/smart-contract-interfaces.ts';
import { listTagRows, toTag } from '../../storage/tables/tags.ts';
import {
  getUserRow,
  listRootUserIds,
  listUserRows,
  setRootQuorum,
  toUser,
} from '../../storage/tables/users.ts';
import { listWalletRows, toWallet } from '../../storage/tables/wallets.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { checkCredentialLeft } from '../credentials/credentials.ts';
import { checkDistinct, orNotFound, ids, name, quorumThreshold } from '../shared/parameters.ts';
import { shownFeature, shownOrganizationData, shownQuorum, uuid } from '../shared/resources.ts';

const missing = 'no organization found with the given ID';

export const whoami = query({
  path: 'whoami',
  summary: 'Tells whose key stamped the request, and in which organization.',
  inCallersOrganization: true,
  params: z.object({}),
  returns: z.object({
    organizationId: uuid,
    organizationName: z.string(),
    userId: uuid,
    username: z.string(),
  }),
  run({ tx, organizationId, caller }) {
    const user = orNotFound(
      getUserRow(tx, organizationId, caller.userId),
      `unable to find user ${caller.userId}`,
    );
    const organization = orNotFound(getOrganization(tx, organizationId), missing);
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
  summary: 'Shows the organization with everything in it.',
  params: z.object({}),
  returns: z.object({ organizationData: shownOrganizationData }),
  run({ tx, organizationId }) {
    const organization = orNotFound(getOrganization(tx, organizationId), missing);
    return {
      organizationData: {
        organizationId,
        name: organization.name,
        users: listUserRows(tx, organizationId).map((row) => toUser(tx, row)),
        policies: listPolicyRows(tx, organizationId).map(toPolicy),
        privateKeys: listPrivateKeyRows(tx, organizationId).map((row) => toPrivateKey(tx, row)),
        invitations: [],
        tags: [
          ...listTagRows(tx, organizationId, 'TAG_TYPE_USER'),
          ...listTagRows(tx, organizationId, 'TAG_TYPE_PRIVATE_KEY'),
        ].map(toTag),
        rootQuorum: quorumOf(tx, organization),
        features: listFeatures(tx, organizationId),
        wallets: listWalletRows(tx, organizationId).map(toWallet),
        smartContractInterfaceReferences: listInterfaceRows(tx, organizationId).map((row) => ({
          smartContractInterfaceId: row.id,
          smartContractAddress: row.address,
          digest: toHex(sha256(Buffer.from(row.interface, 'utf8'))),
        })),
      },
    };
  },
});

export const getOrganizationConfigs = query({
  path: 'get_organization_configs',
  summary: 'Shows the features of the organization, and its quorum of root users.',
  params: z.object({}),
  returns: z.object({ configs: z.object({ features: z.array(shownFeature), quorum: shownQuorum }) }),
  run({ tx, organizationId }) {
    const organization = orNotFound(getOrganization(tx, organizationId), missing);
    return {
      configs: { features: listFeatures(tx, organizationId), quorum: quorumOf(tx, organization) },
    };
  },
});

export const updateRootQuorum = activity({
  path: 'update_root_quorum',
  summary: 'Says whose votes make the root quorum, and how many of them it takes.',
  title: 'Update the root quorum',
  type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
  intent: 'updateRootQuorumIntent',
  result: 'updateRootQuorumResult',
  authority: { resource: 'ORGANIZATION', action: 'UPDATE', rootQuorumOnly: true },
  stepUp: { for: 'wayIn' },
  params: z.object({
    threshold: quorumThreshold,
    userIds: ids.min(1),
  }),
  returns: z.object({}),
  run({ tx, organizationId, params: { threshold, userIds }, now }) {
    checkDistinct('parameters.userIds', userIds);
    if (threshold > userIds.length) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid parameters.threshold: quorum users missing, expected at most ${String(userIds.length)}, the number of parameters.userIds, got ${String(threshold)}`,
      );
    }
    for (const userId of userIds) {
      orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
      // A member that cannot vote would count towards a threshold that the others cannot reach.
      checkCredentialLeft(tx, organizationId, userId, now);
    }
    setRootQuorum(tx, organizationId, threshold, userIds, now);
    return {};
  },
});

const quorumOf = (tx: Reader, { id, rootQuorumThreshold }: OrganizationRow) => ({
  threshold: rootQuorumThreshold,
  userIds: listRootUserIds(tx, id),
});

export const updateOrganizationName = activity({
  path: 'update_organization_name',
  summary: 'Gives the organization another name.',
  title: 'Rename the organization',
  type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
  intent: 'updateOrganizationNameIntent',
  result: 'updateOrganizationNameResult',
  authority: { resource: 'ORGANIZATION', action: 'UPDATE', rootQuorumOnly: true },
  params: z.object({ organizationName: name }),
  returns: z.object({ organizationId: uuid, organizationName: z.string() }),
  run({ tx, organizationId, params: { organizationName }, now }) {
    renameOrganization(tx, organizationId, organizationName, now);
    return { organizationId, organizationName };
  },
});

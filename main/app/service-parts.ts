/** Wires what answers a request: the service, and what follows its activities, its callers and its keys. */
import { SigningCounts } from '../activities/answer/signing-counts.ts';
import { signingTypes } from '../activities/define.ts';
import { Rejections } from '../activities/request/reject-waiting.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { idTokenVerifier } from '../auth/id-tokens.ts';
import { credentialUses, keyUses, LastUses } from '../auth/last-uses.ts';
import { LogWatch } from '../delivery/webhooks/log-watch.ts';
import type { Service } from '../http/handle.ts';
import { RequestJournal } from '../http/request-journal.ts';
import { Waiters } from '../http/waiters.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Random } from '../lib/random.ts';
import { Nodes } from '../nodes/nodes.ts';
import { operations } from '../operations/index.ts';
import { GrantEnds } from '../operations/policies/grant-ends.ts';
import { createGrant } from '../operations/policies/grants.ts';
import { RequestUse } from '../settings/request-use.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import { isNetworkOn } from '../storage/tables/settings.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { Config } from './config.ts';
import type { DeliveryParts } from './delivery-parts.ts';
import type { StorageParts } from './storage-parts.ts';
import type { Surroundings } from './surroundings.ts';

interface ServiceSources {
  readonly config: Config;
  readonly random: Random;
  /** `keyhearth dev`. */
  readonly isDev: boolean;
  readonly keyring: Keyring;
  readonly log: AuditLog;
  readonly stored: StorageParts;
  readonly delivery: DeliveryParts;
}

export function serviceParts(sources: ServiceSources, surroundings: Surroundings) {
  const { config, random, isDev, keyring, stored, delivery } = sources;
  const { clock, onFault, emit } = surroundings;
  const { units, turns, verifications, guard } = stored;
  const followers = followerParts(units, keyring, surroundings);
  const { watch, waiters, lastUses, lastKeyUses } = followers;
  const signing: ReadonlySet<string> = new Set(signingTypes(operations));
  const nodes = new Nodes(units, keyring);
  const service: Service = {
    units,
    turns,
    verifications,
    keys: keyring,
    random,
    clock,
    rpId: config.rpId,
    verifyIdToken: idTokenVerifier({
      issuers: config.oidcIssuers,
      allowLoopback: config.allowLoopbackIssuers,
      clock,
      isNetworkOn: () => units.read(isNetworkOn),
    }),
    preview: (wanted) => nodes.preview(wanted),
    sandbox: isDev,
    post: (tx, organizationId, message) => {
      delivery.messages.post(tx, organizationId, message);
    },
    lastUses: (tx, organizationId) => lastUses.of(tx, organizationId),
    keyUses: (tx, organizationId) => lastKeyUses.of(tx, organizationId),
    signingCounts: new SigningCounts([...signing]),
    logFollowed: () => guard.followed(),
    rejections: new Rejections(),
    watchLog: (listener) => watch.add(listener),
    operations,
    waiters,
    ...consequences(sources, followers, signing, surroundings),
    onFault,
  };
  const journal = new RequestJournal(service, () => {
    emit({ kind: 'requests' });
  });
  return { service, journal, nodes, ...followers };
}

export type ServiceParts = ReturnType<typeof serviceParts>;

type Followers = ReturnType<typeof followerParts>;

/** Parts that wait for requests, or keep when something was last used by one. */
function followerParts(units: UnitOfWork, keyring: Keyring, { clock, onFault, emit }: Surroundings) {
  const watch = new LogWatch(onFault);
  const waiters = new Waiters(() => keyring.frozenAt !== undefined, onFault);
  // Nothing that waits can be decided on before the owner thaws the vault.
  keyring.onChange(() => {
    if (keyring.frozenAt !== undefined) waiters.endAll();
  });
  const requestUse = new RequestUse(clock);
  const lastUses = new LastUses({ table: credentialUses, units, keys: keyring, onFault });
  const lastKeyUses = new LastUses({ table: keyUses, units, keys: keyring, onFault });
  // Created before the doors: a request that waits at one goes on once the grants are deleted.
  const grants = new GrantEnds({
    units,
    keys: keyring,
    clock,
    onFault,
    onEnd: () => {
      emit({ kind: 'status' });
    },
  });
  return { watch, waiters, requestUse, lastUses, lastKeyUses, grants };
}

/** Tells the other parts what a request did. @param signing Types of activities that sign. */
function consequences(
  { log, delivery }: Pick<ServiceSources, 'log' | 'delivery'>,
  { watch, waiters, requestUse, lastUses, lastKeyUses, grants }: Followers,
  signing: ReadonlySet<string>,
  { clock, emit }: Surroundings,
): Pick<Service, 'onAppended' | 'onActivity' | 'onCaller' | 'onKeyUse'> {
  return {
    onAppended: (tx, row, by) => {
      delivery.webhooks.onAppended(tx, row);
      watch.appended();
      // Members of a sub-organization are strangers to the owner of this computer: anyone may have signed up
      // there.
      if (by !== null && getOrganization(tx, by.organizationId)?.parentId === null) requestUse.note();
    },
    onActivity: ({ id, organizationId, type, status }) => {
      if (status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') waiters.decided(id);
      if (status === 'ACTIVITY_STATUS_COMPLETED' && !signing.has(type)) waiters.changed(organizationId);
      log.noticed();
      if (type === createGrant.versions[0].type && status === 'ACTIVITY_STATUS_COMPLETED') grants.look();
      emit({ kind: 'activity', id, type, status });
    },
    onCaller: ({ credentialId, organizationId }) => {
      if (credentialId !== undefined) lastUses.note(credentialId, { organizationId, usedAt: clock.now() });
    },
    onKeyUse: (keyId, use) => {
      lastKeyUses.note(keyId, use);
    },
  };
}

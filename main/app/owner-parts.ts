/** Wires what the owner has beside the API: backups, settings, doors, and the timeline that notes them. */
import { join } from 'node:path';
import { SecurityTimeline } from '../audit/security-timeline.ts';
import { Backups } from '../backup/backups.ts';
import { Doors } from '../doors/doors.ts';
import type { Service } from '../http/handle.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { DesktopCapabilities } from '../lib/desktop-capabilities.ts';
import { logWarning } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { Settings } from '../settings/settings.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { homeDirectory } from './home-directory.ts';
import type { Surroundings } from './surroundings.ts';

interface OwnerSources {
  /** The vault's directory; null for a vault in memory. */
  readonly directory: string | null;
  readonly shell: DesktopCapabilities;
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly service: Service;
  readonly nodes: Nodes;
  readonly random: Random;
  /** Known once the service listens. */
  readonly url: () => string;
  /** Sends what waited for a setting. */
  readonly sendWaiting: () => void;
}

export function ownerParts(sources: OwnerSources, { clock, onFault, emit }: Surroundings) {
  const { directory, shell, units, keyring, service, nodes, random, url, sendWaiting } = sources;
  const timeline = new SecurityTimeline({ units, keyring, clock, onFault });
  const backups = new Backups({
    units,
    keyring,
    clock,
    directory,
    suggestedDirectory: join(homeDirectory(), 'Keyhearth backups'),
    onChange: () => {
      emit({ kind: 'backups' });
    },
    onFailure: logWarning,
    onEvent: (kind) => {
      timeline.note(kind);
    },
  });
  const settings = new Settings({
    units,
    keys: keyring,
    clock,
    shell,
    onChange: () => {
      // Deliveries that waited for the network start at once.
      sendWaiting();
      emit({ kind: 'settings' });
    },
  });
  const doors = new Doors({
    service,
    keyring,
    nodes,
    random,
    lastUses: service.lastUses,
    homeDirectory: homeDirectory(),
    directory: directory ?? undefined,
    url,
    onChange: () => {
      emit({ kind: 'doors' });
    },
    onEvent: (kind, door) => {
      timeline.note(kind, door);
    },
  });
  return { timeline, backups, settings, doors };
}

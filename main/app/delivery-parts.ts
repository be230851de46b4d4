/** Wires the deliveries that the vault sends by itself, and the watch over the network. */
import type { Delayed } from '../../preload/contract.ts';
import { showEvent } from '../activities/answer/events.ts';
import { Messages, messageKind } from '../delivery/messages/messages.ts';
import { NetworkWatch } from '../delivery/queue/network-watch.ts';
import { Outbox } from '../delivery/queue/outbox.ts';
import { Webhooks } from '../delivery/webhooks/webhooks.ts';
import type { Keyring } from '../keys/keyring.ts';
import { operations } from '../operations/index.ts';
import type { Reader } from '../storage/connection.ts';
import { countDelayed, retryDeliveriesNow } from '../storage/tables/outbox.ts';
import { isNetworkOn } from '../storage/tables/settings.ts';
import { retryWebhooksNow } from '../storage/tables/webhook-deliveries.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { Surroundings } from './surroundings.ts';

interface DeliveryOptions {
  /** `keyhearth dev`: messages go to its inbox alone, and events of sub-organizations to this machine too. */
  readonly isDev: boolean;
  /** As the shell knows it; undefined without one. */
  readonly isOnline: (() => boolean) | undefined;
}

export function deliveryParts(
  units: UnitOfWork,
  keyring: Keyring,
  { isDev, isOnline }: DeliveryOptions,
  { clock, onFault, emit }: Surroundings,
) {
  const common = { units, keys: keyring, clock, onFault };
  const outbox = new Outbox({
    ...common,
    onResults: (kind) => {
      if (kind === messageKind) messages.noticed();
    },
  });
  const messages = new Messages({
    ...common,
    outbox,
    inboxOnly: isDev,
    onChange: () => {
      emit({ kind: 'messages' });
    },
    onShown: (id) => {
      emit({ kind: 'message', id });
    },
  });
  const network = new NetworkWatch({
    isOnline,
    onChange: () => {
      if (network.online) sendWhatWaited().catch(onFault);
      emit({ kind: 'status' });
    },
    onFault,
  });
  const webhooks = new Webhooks({
    ...common,
    isOnline: () => network.online,
    onChange: () => {
      emit({ kind: 'webhooks' });
    },
    showActivity: (tx, row) => showEvent(operations, tx, row),
    sandbox: isDev,
  });
  /** Sends what may go now, after the network was switched on for instance. */
  const look = (): void => {
    outbox.look();
    webhooks.look();
  };
  async function sendWhatWaited(): Promise<void> {
    if (!keyring.unlocked) return;
    await units.write((tx) => {
      retryDeliveriesNow(tx);
      retryWebhooksNow(tx);
    });
    look();
  }
  /** Counts delayed deliveries, with the reason; null if there are none, or the vault is locked. */
  const delayed = (tx: Reader): Delayed | null => {
    const counts = {
      messages: countDelayed(tx, messageKind, clock.wall()),
      endpoints: webhooks.countDelayed(tx),
    };
    if (!keyring.unlocked || (counts.messages === 0 && counts.endpoints === 0)) return null;
    return { why: !isNetworkOn(tx) ? 'network off' : network.online ? 'failing' : 'offline', ...counts };
  };
  return { outbox, messages, webhooks, network, look, delayed };
}

export type DeliveryParts = ReturnType<typeof deliveryParts>;

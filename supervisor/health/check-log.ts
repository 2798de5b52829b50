/** Writes what the active checks of one cluster have to say into their event logs. */
import type { Clock } from '../../shared/process/clock.ts';
import type { CheckEvent } from '../../shared/health/check-event.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../shared/resources/clusters/host-health.ts';
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import { checkEventMessage } from './check-events.ts';
import type { EventLogs } from './event-log.ts';

export interface CheckLogParts {
  readonly resolved: ResolvedCluster;
  readonly clock: Clock;
  readonly eventLogs: EventLogs;
}

export class CheckLog {
  readonly #parts: CheckLogParts;

  constructor(parts: CheckLogParts) {
    this.#parts = parts;
  }

  /** `position` is the check's, among those of the cluster. */
  write(host: HostResource, position: number, event: CheckEvent): void {
    const { resolved, clock, eventLogs } = this.#parts;
    const { resource, checkEventLogs = [], discovery } = resolved;
    const check = resource.healthChecks?.[position];
    if (check === undefined || isKnown(host, event)) return;
    const message = checkEventMessage(event, {
      cluster: resource.name,
      host,
      check,
      wallMs: clock.wallMs(),
      alwaysHasMetadata: discovery?.kind === 'dns',
    });
    for (const path of checkEventLogs[position] ?? []) eventLogs.write(path, message);
  }
}

/** Several workers may see a host say that it fails before they know it from each other. */
function isKnown({ healthBits = 0 }: HostResource, event: CheckEvent): boolean {
  const isPassive = event.kind === 'eject_unhealthy' && event.failureType === 'PASSIVE';
  return isPassive && (healthBits & HEALTH_BITS.failed_active_hc) !== 0;
}

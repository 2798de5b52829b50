/** `/clusters` as lines of `cluster::key::value` and `cluster::host::key::value`. */
import { escapeControls } from '../../../shared/logging/escape.ts';
import { sixDigits } from '../../../shared/text/six-digits.ts';
import type { CircuitBreakerThresholds } from '../../../shared/resources/clusters/cluster.ts';
import type { ClusterStatus, HostStatus } from '../admin-context.ts';
import type { HostOrder } from '../../upstreams/hosts/host-orders.ts';
import {
  BREAKERS_LIKENESS,
  describeHealth,
  HOST_LIKENESS,
  HOST_STATS,
  hostLabel,
  isUnused,
  NO_HOST_STATS,
} from './host-stats.ts';
import { LinesRoom, PrefixedLines } from './prefixed-lines.ts';
import { PrintedOnce } from './printed-once.ts';

/** Without what stands before each. */
type Lines = readonly string[];
type Piece = string | Uint8Array;

const UNUSED_LINES: Lines = statLines(NO_HOST_STATS);

/** Lines that many clusters or hosts of a page have in common but for the prefix. */
class Printed {
  readonly #room = new LinesRoom();
  readonly limits = new PrintedOnce(BREAKERS_LIKENESS, (limits) =>
    this.#lines(breakerLines(limits)),
  );
  /** What stands behind a host's statistics. */
  readonly facts = new PrintedOnce(HOST_LIKENESS, (host) => this.#lines(factLines(host)));
  /** All lines of a host that nothing has used. */
  readonly unused = new PrintedOnce(HOST_LIKENESS, (host) =>
    this.#lines([...UNUSED_LINES, ...factLines(host)]),
  );

  #lines(lines: Lines): PrefixedLines {
    return new PrefixedLines(lines, this.#room);
  }
}

/**
 * Undefined stands for a cluster that is not shown: the page may pause there too. A piece that
 * comes as bytes holds until the next one is asked for.
 */
export function* clustersText(clusters: Iterable<ClusterStatus | undefined>): Generator<Piece> {
  const printed = new Printed();
  for (const cluster of clusters) {
    if (cluster === undefined) {
      yield '';
      continue;
    }
    const prefix = `${escapeControls(cluster.name)}::`;
    yield firstLines(prefix, cluster);
    yield printed.limits.get(cluster.circuitBreakers).withPrefix(prefix);
    let text = lastLines(prefix, cluster);
    let count = 0;
    for (let host = cluster.hosts.at(0); host !== undefined; host = cluster.hosts.at(count)) {
      count += 1;
      const own = `${prefix}${escapeControls(hostLabel(host))}::`;
      const isNew = isUnused(host.stats);
      if (!isNew) text += own + statLines(host.stats).join(own);
      if (text !== '') yield text;
      yield (isNew ? printed.unused : printed.facts).get(host).withPrefix(own);
      text = host.order === undefined ? '' : `${own}operator::${orderText(host.order)}\n`;
    }
    // An empty piece is a place to pause at, which costs a look at the clock.
    if (text !== '') yield text;
  }
}

/** Shown where an operator has ordered something. */
function orderText({ state, weight }: HostOrder): string {
  const words: string[] = state === undefined ? [] : [state];
  if (weight !== undefined) words.push(`weight ${weight}`);
  return words.join(', ');
}

function firstLines(prefix: string, { observabilityName, outlier }: ClusterStatus): string {
  const line = `${prefix}observability_name::${escapeControls(observabilityName)}\n`;
  return outlier === undefined ? line : line + prefix + outlierLines(outlier).join(prefix);
}

function lastLines(prefix: string, { addedViaApi, edsServiceName }: ClusterStatus): string {
  const line = `${prefix}added_via_api::${addedViaApi}\n`;
  return edsServiceName === undefined
    ? line
    : `${line}${prefix}eds_service_name::${escapeControls(edsServiceName)}\n`;
}

function outlierLines(outlier: NonNullable<ClusterStatus['outlier']>): Lines {
  return [
    `outlier::success_rate_average::${sixDigits(outlier.externalAverage)}\n`,
    `outlier::success_rate_ejection_threshold::${sixDigits(outlier.externalThreshold)}\n`,
    `outlier::local_origin_success_rate_average::${sixDigits(outlier.localAverage)}\n`,
    `outlier::local_origin_success_rate_ejection_threshold::${sixDigits(outlier.localThreshold)}\n`,
  ];
}

function breakerLines({ DEFAULT, HIGH }: ClusterStatus['circuitBreakers']): Lines {
  const linesOf = (label: string, thresholds: CircuitBreakerThresholds): Lines => [
    `${label}::max_connections::${thresholds.maxConnections}\n`,
    `${label}::max_pending_requests::${thresholds.maxPendingRequests}\n`,
    `${label}::max_requests::${thresholds.maxRequests}\n`,
    `${label}::max_retries::${thresholds.maxRetries}\n`,
  ];
  return [...linesOf('default_priority', DEFAULT), ...linesOf('high_priority', HIGH)];
}

function statLines(stats: HostStatus['stats']): Lines {
  return HOST_STATS.map((name) => `${name}::${stats[name]}\n`);
}

function factLines(host: HostStatus): Lines {
  return [
    `hostname::${escapeControls(host.hostname)}\n`,
    `health_flags::${describeHealth(host)}\n`,
    `weight::${host.weight}\n`,
    `region::${escapeControls(host.region)}\n`,
    `zone::${escapeControls(host.zone)}\n`,
    `sub_zone::${escapeControls(host.subZone)}\n`,
    `canary::${host.canary}\n`,
    `priority::${host.priority}\n`,
    `success_rate::${host.successRate}\n`,
    `local_origin_success_rate::${host.localOriginSuccessRate}\n`,
  ];
}

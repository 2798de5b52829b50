/**
 * A row for each host that matters in an incident: those of clusters with errors within the last
 * minute, those that are out of service, and those of clusters with several hosts. The worst first.
 */
import type { HostMinute } from '../../recent/host-minute.ts';
import type { AdminContext, HostStatus } from '../admin-context.ts';
import { describeHealth, hostLabel } from '../endpoints/host-stats.ts';
import { escapeHtml } from './escape-html.ts';
import { type Row, tableInSteps } from './html-table.ts';

/** `/clusters` has all of them. */
const ROWS_MAX = 30;
/** Clusters whose hosts are looked at although they do nothing. */
const CLUSTERS_LOOKED_AT_MAX = 100;
/** Hosts that are looked at of a cluster with errors, and of another. */
const FAILING_HOSTS_MAX = 10_000;
const OTHER_HOSTS_MAX = 50;
const HOSTS_PER_STEP = 128;
/** From this share of errors on a row is red. */
const BAD_SHARE = 0.05;

interface ShownHost {
  readonly minute: HostMinute;
  readonly status: HostStatus;
}

export interface HostRowsOptions {
  /** Of clusters that the reader looks for. */
  readonly isWanted: (cluster: string) => boolean;
  readonly isReadOnly: boolean;
}

export function* renderHosts(
  context: AdminContext,
  options: HostRowsOptions,
): Generator<string, void, undefined> {
  const shown = yield* chooseHosts(context, options.isWanted);
  const rows = shown
    .slice(0, ROWS_MAX)
    .map((host) => hostRow(host, options.isReadOnly, context.clock.wallMs()));
  yield* tableInSteps('Hosts', HEADS, rows);
  if (shown.length > ROWS_MAX) {
    yield `<p>The worst ${ROWS_MAX} of ${shown.length}: <a href="clusters">clusters</a></p>\n`;
  }
}

const HEADS = [
  'Cluster',
  'Host',
  'State',
  'Requests',
  'Errors',
  'Active',
  'Connect failures',
  'Mean time',
  'Order',
];

function* chooseHosts(
  context: AdminContext,
  isWanted: (cluster: string) => boolean,
): Generator<'', readonly ShownHost[], undefined> {
  const minutes = yield* minutesByHost(context, isWanted);
  const failing = new Set([...minutes.values()].filter(isFailing).map((minute) => minute.cluster));
  const shown: ShownHost[] = [];
  let count = 0;
  for (const cluster of clustersToLookAt(context, failing, isWanted)) {
    const hosts = context.clusters.status(cluster)?.hosts;
    if (hosts === undefined || (hosts.length < 2 && !failing.has(cluster))) continue;
    const most = failing.has(cluster) ? FAILING_HOSTS_MAX : OTHER_HOSTS_MAX;
    for (let index = 0; index < Math.min(hosts.length, most); index++) {
      if (++count % HOSTS_PER_STEP === 0) yield '';
      const status = hosts.at(index);
      if (status === undefined) break;
      const host = hostLabel(status);
      shown.push({ status, minute: minutes.get(keyOf({ cluster, host })) ?? idle(cluster, host) });
    }
  }
  return shown.sort(byTrouble);
}

function* minutesByHost(
  { recent }: AdminContext,
  isWanted: (cluster: string) => boolean,
): Generator<'', ReadonlyMap<string, HostMinute>, undefined> {
  const minutes = new Map<string, HostMinute>();
  for (const minute of recent.activeHosts()) {
    if (minute === undefined) yield '';
    else if (isWanted(minute.cluster)) minutes.set(keyOf(minute), minute);
  }
  return minutes;
}

function keyOf({ cluster, host }: Pick<HostMinute, 'cluster' | 'host'>): string {
  return `${cluster} ${host}`;
}

/** Those with errors, those with hosts out of service, and the first of all. */
function clustersToLookAt(
  { clusters, recent }: AdminContext,
  failing: ReadonlySet<string>,
  isWanted: (cluster: string) => boolean,
): ReadonlySet<string> {
  const names = new Set([...failing, ...recent.sickClusters().filter(isWanted)]);
  const most = names.size + CLUSTERS_LOOKED_AT_MAX;
  for (const name of clusters.names()) {
    if (names.size >= most) break;
    if (isWanted(name)) names.add(name);
  }
  return names;
}

function isFailing({ errors, connectFailures }: HostMinute): boolean {
  return errors + connectFailures > 0;
}

function idle(cluster: string, host: string): HostMinute {
  return { cluster, host, requests: 0, errors: 0, connectFailures: 0, meanMs: undefined };
}

function errorShare({ requests, errors }: HostMinute): number {
  return errors / Math.max(requests, errors, 1);
}

function byTrouble(left: ShownHost, right: ShownHost): number {
  return (
    errorShare(right.minute) - errorShare(left.minute) ||
    right.minute.connectFailures - left.minute.connectFailures ||
    Number(isOut(right.status)) - Number(isOut(left.status)) ||
    right.minute.requests - left.minute.requests
  );
}

function isOut(status: HostStatus): boolean {
  return status.order !== undefined || describeHealth(status) !== 'healthy';
}

function hostRow({ minute, status }: ShownHost, isReadOnly: boolean, nowMs: number): Row {
  const { cluster, host, requests, errors, connectFailures, meanMs } = minute;
  const share = errorShare(minute);
  const isBad = share >= BAD_SHARE || (requests === 0 && connectFailures > 0);
  const percent = errors > 0 ? ` (${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %)` : '';
  const health = describeHealth(status);
  return [
    `<a href="${clusterPage(cluster)}">${escapeHtml(cluster)}</a>`,
    `<a href="connections?host=${encodeURIComponent(host)}">${escapeHtml(host)}</a>`,
    `<span class="host ${colourOf(health)}">${escapeHtml(health + orderOf(status, nowMs))}</span>`,
    String(requests),
    `<span${isBad ? ' class="host bad"' : ''}>${errors}${percent}</span>`,
    String(status.stats.rq_active),
    `<span${connectFailures > 0 ? ' class="host bad"' : ''}>${connectFailures}</span>`,
    meanMs === undefined ? '' : `${meanMs.toFixed(meanMs < 10 ? 1 : 0)} ms`,
    orderForm(minute, isReadOnly),
  ];
}

export function clusterPage(cluster: string): string {
  const pattern = `^${cluster.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
  return `clusters?filter=${encodeURIComponent(pattern)}`;
}

function colourOf(health: string): string {
  return health === 'healthy' ? 'good' : health.includes('degraded') ? 'fair' : 'bad';
}

function orderOf({ order }: HostStatus, nowMs: number): string {
  if (order === undefined) return '';
  const { state, weight, untilMs } = order;
  const what = [state, weight === undefined ? undefined : `weight ${weight}`]
    .filter((each) => each !== undefined)
    .join(', ');
  const left = untilMs === undefined ? '' : ` for ${Math.ceil((untilMs - nowMs) / 1000)} s`;
  return `, ordered: ${what}${left}`;
}

function orderForm({ cluster, host }: HostMinute, isReadOnly: boolean): string {
  if (isReadOnly) return '';
  const button = (state: string): string =>
    `<button class="post" name="state" value="${state}" ` +
    `aria-label="${state}: ${escapeHtml(host)} of ${escapeHtml(cluster)}">${state}</button>`;
  return (
    `<form action="hosts/state" method="post" class="inline" data-inline>` +
    `<input type="hidden" name="cluster" value="${escapeHtml(cluster)}">` +
    `<input type="hidden" name="host" value="${escapeHtml(host)}">` +
    `${button('drain')} ${button('down')} ${button('up')}</form>`
  );
}

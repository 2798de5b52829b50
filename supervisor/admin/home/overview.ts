/** What the server is doing now, as HTML: state, workers, listeners, clusters, certificates. */
import type { AdminContext, ClusterStatus, HostStatus } from '../admin-context.ts';
import type { CertificateDetails } from '../../tls/certificate-status.ts';
import { describeAddress } from '../bind-admin.ts';
import type { ListenerDrainStatus } from '../../drain/drain-view.ts';
import { daysUntil } from '../../../shared/tls/days-until.ts';
import { describeHealth, hostLabel } from '../endpoints/host-stats.ts';
import type { Refusals } from '../../../shared/messages/refusals.ts';
import { escapeHtml } from './escape-html.ts';
import { clusterPage, renderHosts } from './host-rows.ts';
import { type Row, table, tableInSteps } from './html-table.ts';
import { renderTraffic } from './recent-traffic.ts';
import { daysAndClock } from './time-spans.ts';

/** More would make the page slow; `/clusters` has them all. */
const CLUSTERS_SHOWN_MAX = 50;
const HOSTS_SHOWN_MAX = 50;
/** Hosts summed up in one step. */
const HOSTS_PER_STEP = 128;

/** What must be asked for before the page is made. */
export interface Load {
  readonly listeners: readonly ListenerDrainStatus[];
  /** Open connections by worker. */
  readonly connectionsOf: ReadonlyMap<number, number>;
  /** What each worker refused last. */
  readonly refusals: readonly Refusals[];
}

/** Who looks, and at what. */
export interface Look {
  /** Only clusters and listeners whose names contain it, in small letters. */
  readonly find: string;
  readonly isReadOnly: boolean;
}

export function* renderOverview(context: AdminContext, load: Load, look: Look): Generator<string> {
  const isWanted = (name: string): boolean => name.toLowerCase().includes(look.find);
  yield renderHeader(context, look.isReadOnly);
  yield renderTraffic(context.recent.intervals(), load.refusals, context.clock.wallMs());
  yield* renderHosts(context, { isWanted, isReadOnly: look.isReadOnly });
  yield* renderClusters(context, isWanted);
  yield* renderListeners(context, load, isWanted);
  yield renderWorkers(context, load);
  yield* renderCertificates(context);
}

function renderHeader(context: AdminContext, isReadOnly: boolean): string {
  const { server } = context;
  const state = server.state();
  const uptimeS = Number((context.clock.monotonicNs() - server.startedAtNs) / 1_000_000_000n);
  const node = server.node();
  const id = typeof node['id'] === 'string' ? node['id'] : '';
  return (
    `<header><h1>Sluice</h1><span class="badge ${state === 'LIVE' ? 'good' : 'bad'}">${state}</span>` +
    `${isReadOnly ? '<span class="badge fair">read only</span>' : ''}` +
    `<dl><dt>Uptime</dt><dd>${daysAndClock(uptimeS)}</dd>` +
    `<dt>Epoch</dt><dd>${server.restartEpoch}</dd>` +
    `${id === '' ? '' : `<dt>Node</dt><dd>${escapeHtml(id)}</dd>`}` +
    `<dt>Version</dt><dd>${escapeHtml(server.version)}</dd></dl></header>\n`
  );
}

function renderWorkers(context: AdminContext, { connectionsOf }: Load): string {
  const rows = context.server
    .workers()
    .map((worker) => [
      String(worker.index),
      String(worker.pid),
      escapeHtml(worker.state),
      String(connectionsOf.get(worker.index) ?? 0),
      String(worker.restarts),
    ]);
  return table('Workers', ['Worker', 'Process', 'State', 'Connections', 'Restarts'], rows);
}

function* renderListeners(
  context: AdminContext,
  load: Load,
  isWanted: (name: string) => boolean,
): Generator<string> {
  const byName = new Map(load.listeners.map((listener) => [listener.name, listener]));
  function* rows(): Generator<Row> {
    for (const { name, addresses } of context.listeners.list()) {
      if (!isWanted(name)) continue;
      const status = byName.get(name);
      const { open = 0, streams = 0 } = status ?? {};
      yield [
        `<a href="connections?listener=${encodeURIComponent(name)}">${escapeHtml(name)}</a>`,
        addresses.map((address) => escapeHtml(describeAddress(address))).join('<br>'),
        drainState(status),
        String(open),
        String(streams),
      ];
    }
  }
  const heads = ['Name', 'Address', 'State', 'Connections', 'Requests now'];
  yield* tableInSteps('Listeners', heads, rows());
}

/** A drain that is under way says how far it is. */
function drainState(status: ListenerDrainStatus | undefined): string {
  const { state = '', percent = 0, elapsedMs, deadlineMs } = status ?? {};
  if (state === 'serving' || elapsedMs === undefined) {
    return `<span class="host ${state === 'serving' ? 'good' : 'fair'}">${state}</span>`;
  }
  const left = deadlineMs === undefined ? '' : `, ${Math.ceil(deadlineMs / 1000)} s left`;
  const text = `${state} ${Math.round(percent)} %${left}`;
  return (
    `<span class="host fair">${text}</span> ` +
    `<progress max="100" value="${Math.round(percent)}" aria-label="${text}"></progress>`
  );
}

function* renderClusters(
  context: AdminContext,
  isWanted: (name: string) => boolean,
): Generator<string> {
  const names = context.clusters.names().filter(isWanted);
  let shown = 0;
  function* rows(): Generator<Row | undefined> {
    for (const name of names.slice(0, CLUSTERS_SHOWN_MAX)) {
      const status = context.clusters.status(name);
      if (status === undefined) continue;
      shown++;
      yield yield* clusterRow(status);
    }
  }
  const heads = ['Name', 'Hosts', 'Connections', 'Requests', 'Errors'];
  yield* tableInSteps('Clusters', heads, rows());
  const rest = names.length - shown;
  if (rest > 0) yield `<p>and ${rest} more: <a href="clusters">clusters</a></p>\n`;
}

function* clusterRow(cluster: ClusterStatus): Generator<undefined, Row, undefined> {
  const sums = { cx_active: 0, rq_total: 0, rq_error: 0 };
  const shown: string[] = [];
  let count = 0;
  for (let host = cluster.hosts.at(0); host !== undefined; host = cluster.hosts.at(count)) {
    const { cx_active, rq_total, rq_error } = host.stats;
    sums.cx_active += cx_active;
    sums.rq_total += rq_total;
    sums.rq_error += rq_error;
    if (count < HOSTS_SHOWN_MAX) shown.push(renderHost(host));
    if (++count % HOSTS_PER_STEP === 0) yield undefined;
  }
  const rest = count - shown.length;
  return [
    `<a href="${clusterPage(cluster.name)}">${escapeHtml(cluster.name)}</a>`,
    shown.join(' ') + (rest > 0 ? ` and ${rest} more` : ''),
    String(sums.cx_active),
    String(sums.rq_total),
    String(sums.rq_error),
  ];
}

// The state is in the text for those who do not see colours.
function renderHost(host: HostStatus): string {
  const health = describeHealth(host);
  const colour = health === 'healthy' ? 'good' : health.includes('degraded') ? 'fair' : 'bad';
  const suffix = health === 'healthy' ? '' : ` ${health}`;
  return `<span class="host ${colour}">${escapeHtml(hostLabel(host) + suffix)}</span>`;
}

function* renderCertificates(context: AdminContext): Generator<string> {
  const nowMs = context.clock.wallMs();
  const leaves: CertificateDetails[] = [];
  for (const { chain, ca } of context.clusters.certificates()) {
    leaves.push(...chain, ...ca);
    yield '';
  }
  leaves.sort((left, right) => left.expiresMs - right.expiresMs);
  const row = (details: CertificateDetails): Row => {
    const days = daysUntil(details.expiresMs, nowMs);
    const colour = days < 7 ? 'bad' : days < 30 ? 'fair' : 'good';
    return [
      escapeHtml(details.path),
      escapeHtml(details.subjectAltNames.map(({ value }) => value).join(', ')),
      `<span class="host ${colour}">${days} days</span>`,
    ];
  };
  yield* tableInSteps('Certificates', ['File', 'Names', 'Expires in'], leaves.map(row));
}

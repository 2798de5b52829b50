/** What the server is doing now, as HTML: state, workers, listeners, clusters, certificates. */
import type { AdminContext, ClusterStatus, HostStatus } from '../admin-context.ts';
import type { CertificateDetails } from '../../tls/certificate-status.ts';
import { describeAddress } from '../bind-admin.ts';
import type { ListenerDrainStatus } from '../../drain/drain-view.ts';
import { daysUntil } from '../../../shared/tls/days-until.ts';
import { describeHealth, hostLabel } from '../endpoints/host-stats.ts';
import { escapeHtml } from './escape-html.ts';

/** More would make the page slow; `/clusters` has them all. */
const CLUSTERS_SHOWN_MAX = 100;
const HOSTS_SHOWN_MAX = 50;
/** Hosts summed up in one step. */
const HOSTS_PER_STEP = 128;

/** What must be asked for before the page is made. */
export interface Load {
  readonly listeners: readonly ListenerDrainStatus[];
  /** Open connections by worker. */
  readonly connectionsOf: ReadonlyMap<number, number>;
}

export function* renderOverview(context: AdminContext, load: Load): Generator<string> {
  yield renderHeader(context);
  yield `<section id="traffic" hidden><h2>Traffic</h2><div id="charts"></div></section>\n`;
  yield renderWorkers(context, load);
  yield* renderListeners(context, load);
  yield* renderClusters(context);
  yield* renderCertificates(context);
}

function renderHeader(context: AdminContext): string {
  const { server } = context;
  const state = server.state();
  const uptimeS = Number((context.clock.monotonicNs() - server.startedAtNs) / 1_000_000_000n);
  const node = server.node();
  const id = typeof node['id'] === 'string' ? node['id'] : '';
  return (
    `<header><h1>Sluice</h1><span class="badge ${state === 'LIVE' ? 'good' : 'bad'}">${state}</span>` +
    `<dl><dt>Uptime</dt><dd>${formatSpan(uptimeS)}</dd>` +
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

function* renderListeners(context: AdminContext, load: Load): Generator<string> {
  const byName = new Map(load.listeners.map((listener) => [listener.name, listener]));
  function* rows(): Generator<Row> {
    for (const { name, addresses } of context.listeners.list()) {
      const { state = '', open = 0, streams = 0 } = byName.get(name) ?? {};
      yield [
        escapeHtml(name),
        addresses.map((address) => escapeHtml(describeAddress(address))).join('<br>'),
        `<span class="host ${state === 'serving' ? 'good' : 'fair'}">${state}</span>`,
        String(open),
        String(streams),
      ];
    }
  }
  const heads = ['Name', 'Address', 'State', 'Connections', 'Requests now'];
  yield* tableInSteps('Listeners', heads, rows());
}

function* renderClusters(context: AdminContext): Generator<string> {
  const names = context.clusters.names();
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
    escapeHtml(cluster.name),
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

/** Cells, which are HTML already. */
type Row = readonly string[];

function table(title: string, heads: readonly string[], rows: readonly Row[]): string {
  return [...tableInSteps(title, heads, rows)].join('');
}

/** Nothing at all without rows; undefined is a place to pause at. */
function* tableInSteps(
  title: string,
  heads: readonly string[],
  rows: Iterable<Row | undefined>,
): Generator<string> {
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  let opening =
    `<section><h2>${title}</h2>\n<div class="scroll"><table><thead><tr>${head}</tr></thead>\n` +
    `<tbody>\n`;
  let isEmpty = true;
  for (const cells of rows) {
    if (cells === undefined) {
      yield '';
      continue;
    }
    const row = cells.map((cell) => `<td>${cell}</td>`).join('');
    yield `${opening}<tr class="row">${row}</tr>\n`;
    opening = '';
    isEmpty = false;
  }
  if (!isEmpty) yield `</tbody></table></div></section>\n`;
}

function formatSpan(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const clock = [seconds / 3600, seconds / 60, seconds]
    .map((unit, index) => Math.floor(unit) % (index === 0 ? 24 : 60))
    .map((unit) => String(unit).padStart(2, '0'))
    .join(':');
  return days > 0 ? `${days} d ${clock}` : clock;
}

/** What the server is doing now, as HTML: state, workers, listeners, clusters, certificates. */
import type {
  AdminContext,
  CertificateStatus,
  ClusterStatus,
  HostStatus,
} from '../admin-context.ts';
import { describeAddress } from '../bind-admin.ts';
import type { ListenerDrainStatus } from '../drain-view.ts';
import { daysUntil } from '../endpoints/certs.ts';
import { describeHealth, hostLabel } from '../endpoints/clusters-text.ts';
import { escapeHtml } from './escape-html.ts';

/** More would make the page slow; `/clusters` has them all. */
const CLUSTERS_SHOWN_MAX = 100;
const HOSTS_SHOWN_MAX = 50;

/** What must be asked for before the page is made. */
export interface Load {
  readonly listeners: readonly ListenerDrainStatus[];
  /** Open connections by worker. */
  readonly connectionsOf: ReadonlyMap<number, number>;
}

export function renderOverview(context: AdminContext, load: Load): string {
  return [
    renderHeader(context),
    `<section id="traffic" hidden><h2>Traffic</h2><div id="charts"></div></section>\n`,
    renderWorkers(context, load),
    renderListeners(context, load),
    renderClusters(context),
    renderCertificates(context),
  ].join('');
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

function renderListeners(context: AdminContext, load: Load): string {
  const byName = new Map(load.listeners.map((listener) => [listener.name, listener]));
  const rows = context.listeners.list().map(({ name, addresses }) => {
    const { state = '', open = 0, streams = 0 } = byName.get(name) ?? {};
    return [
      escapeHtml(name),
      addresses.map((address) => escapeHtml(describeAddress(address))).join('<br>'),
      `<span class="host ${state === 'serving' ? 'good' : 'fair'}">${state}</span>`,
      String(open),
      String(streams),
    ];
  });
  return table('Listeners', ['Name', 'Address', 'State', 'Connections', 'Requests now'], rows);
}

function renderClusters(context: AdminContext): string {
  const names = context.clusters.names();
  const statuses = names
    .slice(0, CLUSTERS_SHOWN_MAX)
    .map((name) => context.clusters.status(name))
    .filter((status) => status !== undefined);
  const rest = names.length - statuses.length;
  const more = rest > 0 ? `<p>and ${rest} more: <a href="clusters">clusters</a></p>\n` : '';
  return (
    table(
      'Clusters',
      ['Name', 'Hosts', 'Connections', 'Requests', 'Errors'],
      statuses.map(clusterRow),
    ) + more
  );
}

function clusterRow(cluster: ClusterStatus): string[] {
  const sum = (pick: (host: HostStatus) => number) =>
    String(cluster.hosts.reduce((total, host) => total + pick(host), 0));
  return [
    escapeHtml(cluster.name),
    renderHosts(cluster.hosts),
    sum((host) => host.stats.cx_active),
    sum((host) => host.stats.rq_total),
    sum((host) => host.stats.rq_error),
  ];
}

// The state is in the text for those who do not see colours.
function renderHosts(hosts: readonly HostStatus[]): string {
  const shown = hosts.slice(0, HOSTS_SHOWN_MAX).map((host) => {
    const health = describeHealth(host);
    const colour = health === 'healthy' ? 'good' : health.includes('degraded') ? 'fair' : 'bad';
    const suffix = health === 'healthy' ? '' : ` ${health}`;
    return `<span class="host ${colour}">${escapeHtml(hostLabel(host) + suffix)}</span>`;
  });
  const rest = hosts.length - shown.length;
  return shown.join(' ') + (rest > 0 ? ` and ${rest} more` : '');
}

function renderCertificates(context: AdminContext): string {
  const nowMs = context.clock.wallMs();
  const leaves = context.clusters
    .certificates()
    .flatMap((certificate: CertificateStatus) => [...certificate.chain, ...certificate.ca])
    .sort((left, right) => left.expiresMs - right.expiresMs);
  if (leaves.length === 0) return '';
  const rows = leaves.map((details) => {
    const days = daysUntil(details.expiresMs, nowMs);
    const colour = days < 7 ? 'bad' : days < 30 ? 'fair' : 'good';
    return [
      escapeHtml(details.path),
      escapeHtml(details.subjectAltNames.map(({ value }) => value).join(', ')),
      `<span class="host ${colour}">${days} days</span>`,
    ];
  });
  return table('Certificates', ['File', 'Names', 'Expires in'], rows);
}

/** Cells are HTML already. Nothing at all without rows. */
function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]) {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows
    .map((cells) => `<tr class="row">${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>\n`)
    .join('');
  return (
    `<section><h2>${title}</h2>\n<div class="scroll"><table><thead><tr>${head}</tr></thead>\n` +
    `<tbody>\n${body}</tbody></table></div></section>\n`
  );
}

function formatSpan(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const clock = [seconds / 3600, seconds / 60, seconds]
    .map((unit, index) => Math.floor(unit) % (index === 0 ? 24 : 60))
    .map((unit) => String(unit).padStart(2, '0'))
    .join(':');
  return days > 0 ? `${days} d ${clock}` : clock;
}

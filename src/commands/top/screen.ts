/** Two looks at a server as a screen of text. */
import type { ClusterSample, ConnectionSample, Sample, Totals } from './sample.ts';

const NAME_MAX = 40;

/** `rows` of clusters, those with most requests first, and of connections. */
export function screenOf(before: Sample, now: Sample, rows: number): string {
  const seconds = Math.max((now.atMs - before.atMs) / 1000, 0.001);
  const clusters = [...now.clusters]
    .map(([name, cluster]) => ({
      name,
      cluster,
      rate: rise(before.clusters.get(name)?.rqTotal, cluster.rqTotal) / seconds,
      errors: rise(before.clusters.get(name)?.rq5xx, cluster.rq5xx) / seconds,
    }))
    .toSorted(
      (one, other) => other.rate - one.rate || other.cluster.rqActive - one.cluster.rqActive,
    );
  const shown = clusters.slice(0, rows);
  return [
    `sluice ${now.version.split('/')[1] ?? ''} ${now.state}, up ${now.uptime}`,
    ...totalLines(before.total, now.total, seconds),
    '',
    ...table(
      ['CLUSTER', 'RQ/S', '5XX/S', 'ACTIVE', 'P50 ms', 'P99 ms', 'HOSTS', 'CX'],
      shown.map(({ name, cluster, rate, errors }) => clusterRow(name, cluster, rate, errors)),
    ),
    ...(clusters.length > shown.length ? [`and ${clusters.length - shown.length} more`] : []),
    '',
    ...table(
      [
        'CONNECTION',
        'LISTENER',
        'CLIENT',
        'PROTOCOL',
        'CLUSTER',
        'HOST',
        'AGE s',
        'STREAMS',
        'BYTES',
      ],
      now.connections.slice(0, rows).map(connectionRow),
    ),
    '',
  ].join('\n');
}

function totalLines(before: Totals, now: Totals, seconds: number): readonly string[] {
  const rate = (name: keyof Totals): string => (rise(before[name], now[name]) / seconds).toFixed(1);
  return [
    `requests    ${rate('rq_total')}/s, ${now.rq_active} active; 2xx ${rate('rq_2xx')}/s, 4xx ${rate('rq_4xx')}/s, 5xx ${rate('rq_5xx')}/s`,
    `connections ${rate('cx_total')}/s, ${now.cx_active} open`,
  ];
}

/** A counter that was reset, or is another server's, begins again. */
function rise(before: number | undefined, now: number): number {
  return before === undefined || now < before ? now : now - before;
}

function clusterRow(name: string, cluster: ClusterSample, rate: number, errors: number): string[] {
  const { rqActive, p50, p99, hosts = 0, healthy, cxActive } = cluster;
  return [
    name,
    rate.toFixed(1),
    errors.toFixed(1),
    String(rqActive),
    p50?.toFixed(1) ?? '-',
    p99?.toFixed(1) ?? '-',
    `${healthy}/${hosts}`,
    String(cxActive),
  ];
}

function connectionRow(row: ConnectionSample): string[] {
  return [
    row.id,
    row.listener,
    row.client,
    row.protocol,
    row.cluster,
    row.host,
    (row.age_ms / 1000).toFixed(0),
    String(row.streams),
    String(row.bytes_received + row.bytes_sent),
  ];
}

/** Columns as wide as their widest cell; what has a number in all rows stands at the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const cells = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const isRight = head.map((_, at) => rows.every((row) => /^[-\d./]+$/.test(row[at] ?? '')));
  return cells.map((row) =>
    row
      .map((cell, at) =>
        isRight[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** A name may hold what a terminal would obey. */
function printable(text: string): string {
  const clean = text.replaceAll(/[^\x20-\x7E]/g, '?');
  return clean.length <= NAME_MAX ? clean : `${clean.slice(0, NAME_MAX - 3)}...`;
}

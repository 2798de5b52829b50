/** What one look at a server's pages tells. */

export interface Sample {
  readonly atMs: number;
  readonly state: string;
  readonly version: string;
  readonly uptime: string;
  /** The sums of all connection managers together. */
  readonly total: Totals;
  readonly clusters: ReadonlyMap<string, ClusterSample>;
  readonly connections: readonly ConnectionSample[];
}

const TOTALS = [
  'rq_total',
  'rq_active',
  'rq_2xx',
  'rq_4xx',
  'rq_5xx',
  'cx_total',
  'cx_active',
] as const;
export type Totals = { [Name in (typeof TOTALS)[number]]: number };

export interface ClusterSample {
  rqTotal: number;
  rqActive: number;
  rq5xx: number;
  cxActive: number;
  hosts?: number;
  healthy: number;
  /** Milliseconds since the last flush, or else since the start; undefined: no request was timed. */
  p50?: number | undefined;
  p99?: number | undefined;
}

export interface ConnectionSample {
  readonly id: string;
  readonly listener: string;
  readonly client: string;
  readonly protocol: string;
  readonly cluster: string;
  readonly host: string;
  readonly age_ms: number;
  readonly streams: number;
  readonly bytes_received: number;
  readonly bytes_sent: number;
}

interface Quantiles {
  readonly supported_quantiles?: readonly number[];
  readonly computed_quantiles?: readonly {
    readonly name: string;
    readonly values: readonly {
      readonly interval: number | null;
      readonly cumulative: number | null;
    }[];
  }[];
}

interface StatsPage {
  readonly stats: readonly {
    readonly name?: string;
    readonly value?: number;
    readonly histograms?: Quantiles;
  }[];
}

interface InfoPage {
  readonly state: string;
  readonly version: string;
  readonly uptime_current_epoch: string;
}

const HTTP = /^http\.(.*)\.downstream_([a-z0-9_]+)$/;
const CLUSTER =
  /^cluster\.(.*)\.(upstream_rq_total|upstream_rq_active|upstream_rq_5xx|upstream_cx_active|membership_total|membership_healthy|upstream_rq_time)$/;
const MEMBERS = new Map<string, Exclude<keyof ClusterSample, 'p50' | 'p99'>>([
  ['upstream_rq_total', 'rqTotal'],
  ['upstream_rq_active', 'rqActive'],
  ['upstream_rq_5xx', 'rq5xx'],
  ['upstream_cx_active', 'cxActive'],
  ['membership_total', 'hosts'],
  ['membership_healthy', 'healthy'],
]);
const MEDIAN = 50;
const HIGH = 99;

/** Throws where a page is no JSON. */
export function readSample(
  pages: { readonly info: string; readonly stats: string; readonly connections: string },
  atMs: number,
): Sample {
  const { state, version, uptime_current_epoch: uptime } = JSON.parse(pages.info) as InfoPage;
  const { stats } = JSON.parse(pages.stats) as StatsPage;
  const { connections } = JSON.parse(pages.connections) as {
    readonly connections: readonly ConnectionSample[];
  };
  const total: Totals = {
    rq_total: 0,
    rq_active: 0,
    rq_2xx: 0,
    rq_4xx: 0,
    rq_5xx: 0,
    cx_total: 0,
    cx_active: 0,
  };
  const clusters = new Map<string, ClusterSample>();
  for (const { name = '', value = 0, histograms } of stats) {
    if (histograms !== undefined) readLatencies(clusters, histograms);
    else if (!addTotal(total, name, value)) addToCluster(clusters, name, value);
  }
  // What is below a cluster, such as `external`, has no hosts of its own.
  for (const [name, { hosts }] of clusters) if (hosts === undefined) clusters.delete(name);
  return { atMs, state, version, uptime, total, clusters, connections };
}

/** The admin interface is no traffic. */
function addTotal(total: Totals, name: string, value: number): boolean {
  const [, manager, counted = ''] = HTTP.exec(name) ?? [];
  if (manager === undefined) return false;
  const member = TOTALS.find((each) => each === counted);
  if (member !== undefined && manager !== 'admin') total[member] += value;
  return true;
}

function addToCluster(clusters: Map<string, ClusterSample>, name: string, value: number): void {
  const [, cluster, counted = ''] = CLUSTER.exec(name) ?? [];
  const member = MEMBERS.get(counted);
  if (cluster === undefined || member === undefined) return;
  clusterOf(clusters, cluster)[member] = value;
}

function readLatencies(clusters: Map<string, ClusterSample>, page: Quantiles): void {
  const { supported_quantiles: supported = [], computed_quantiles: computed = [] } = page;
  const [median, high] = [MEDIAN, HIGH].map((each) => supported.indexOf(each));
  for (const { name, values } of computed) {
    const [, cluster, counted] = CLUSTER.exec(name) ?? [];
    if (cluster === undefined || counted !== 'upstream_rq_time') continue;
    const known = clusterOf(clusters, cluster);
    const at = (index = -1): number | undefined =>
      values[index]?.interval ?? values[index]?.cumulative ?? undefined;
    known.p50 = at(median);
    known.p99 = at(high);
  }
}

function clusterOf(clusters: Map<string, ClusterSample>, name: string): ClusterSample {
  const known = clusters.get(name);
  if (known !== undefined) return known;
  const made: ClusterSample = { rqTotal: 0, rqActive: 0, rq5xx: 0, cxActive: 0, healthy: 0 };
  clusters.set(name, made);
  return made;
}

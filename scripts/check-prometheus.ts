/**
 * Lets a real Prometheus scrape a server under traffic, then compares every counter, gauge and
 * histogram that it has with `/stats`; and runs `promtool check metrics` over the page in each of
 * its modes. Not part of `npm test`, since it takes a minute: node dist/scripts/check-prometheus.js
 * [--seconds N]
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { bootstrap, httpListener, staticCluster } from '../test/support/parts/bootstrap.ts';
import { fetchOnce } from '../test/support/peers/http-client.ts';
import { makeScratch, type Scratch } from '../test/support/scratch.ts';
import { startSluice, type Sluice } from '../test/support/programs/sluice.ts';
import { startHttpUpstream } from '../test/support/peers/upstream.ts';

/** Series of one scrape, by name and labels. */
type Series = ReadonlyMap<string, string>;

interface Job {
  readonly name: string;
  readonly params: Readonly<Record<string, readonly string[]>>;
}

const SCRAPE_INTERVAL_S = 2;
/** What every mode of the page is checked with. */
const MODES = [
  '',
  'usedonly',
  'text_readouts',
  'help',
  'histogram_buckets=cumulative',
  'histogram_buckets=summary',
  'usedonly&text_readouts&histogram_buckets=summary&help',
];
/** Remarks about names, which have to be Envoy's. */
const NAME_REMARKS =
  /should (not )?have "_(total|count)" suffix|use base unit|should not contain|abbreviated/;
/** Values that each scrape itself changes, or time. */
const MOVING =
  /^(http\.admin\.|listener\.admin\.|server\.(uptime|memory|total_connections|stats_recent)|sluice\.|main_thread)/;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];

await using upstream = await startHttpUpstream((request, response) => {
  response.statusCode = request.url === '/missing' ? 404 : 200;
  response.end('answer');
});
await using sluice = await startSluice({
  concurrency: 2,
  bootstrap: bootstrap({
    listeners: [httpListener(routes)],
    clusters: [staticCluster('up', [upstream.port])],
  }),
});
const failures = [...(await checkWithPromtool(sluice)), ...(await compareWithPrometheus(sluice))];
for (const failure of failures) console.log(failure);
console.log(failures.length === 0 ? 'passed' : `${failures.length} differences`);
process.exitCode = failures.length === 0 ? 0 : 1;

async function checkWithPromtool(server: Sluice): Promise<readonly string[]> {
  const found: string[] = [];
  for (const mode of MODES) {
    const { body } = await server.admin(`/stats/prometheus?${mode}`);
    const run = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
    const remarks = `${run.stdout}${run.stderr}`
      .split('\n')
      .filter((line) => line !== '' && !NAME_REMARKS.test(line))
      // Envoy prints none either; the page has them on request.
      .filter((line) => mode.includes('help') || !line.endsWith('no help text'));
    console.log(`promtool check metrics, '${mode}': ${remarks.length} remarks beside names`);
    found.push(...remarks.slice(0, 5));
  }
  return found;
}

async function compareWithPrometheus(server: Sluice): Promise<readonly string[]> {
  using scratch = makeScratch();
  const plain = await startPrometheus(scratch, server, 'plain', []);
  const native = await startPrometheus(scratch, server, 'native', [
    '--enable-feature=native-histograms',
  ]);
  try {
    await makeTraffic(server, Number(values.seconds) * 1000);
    await delay(4 * SCRAPE_INTERVAL_S * 1000);
    const stats = await readStats(server);
    const found: string[] = [];
    for (const { port, what } of [plain, native]) {
      for (const job of jobs(what)) {
        const series = await querySeries(port, job.name);
        const { compared, wrong } = compare(stats, series);
        console.log(`Prometheus, ${what}, job ${job.name}: ${compared} values as in /stats`);
        found.push(...wrong.map((text) => `${what}, ${job.name}: ${text}`));
        if (compared < 50) found.push(`${what}, ${job.name}: only ${compared} values to compare`);
      }
    }
    return found;
  } finally {
    plain.child.kill();
    native.child.kill();
  }
}

function jobs(what: string): readonly Job[] {
  return [
    { name: 'all', params: {} },
    { name: 'used', params: { usedonly: [''] } },
    ...(what === 'plain'
      ? [{ name: 'compressed', params: { gzip: [''], openmetrics: [''] } }]
      : []),
    ...(what === 'native'
      ? [{ name: 'sparse', params: { histogram_buckets: ['prometheusnative'] } }]
      : []),
  ];
}

async function startPrometheus(
  scratch: Scratch,
  { adminPort }: Sluice,
  what: string,
  flags: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly port: number; readonly what: string }> {
  const config = {
    global: { scrape_interval: `${SCRAPE_INTERVAL_S}s` },
    scrape_configs: jobs(what).map(({ name, params }) => ({
      job_name: name,
      metrics_path: '/stats/prometheus',
      params,
      static_configs: [{ targets: [`127.0.0.1:${adminPort}`] }],
    })),
  };
  const path = scratch.file(`${what}.json`);
  writeFileSync(path, JSON.stringify(config));
  mkdirSync(scratch.file(what));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${path}`,
      `--storage.tsdb.path=${scratch.file(what)}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return { child, port, what };
}

async function makeTraffic(server: Sluice, milliseconds: number): Promise<void> {
  const port = await server.listenerPort('web');
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    await fetchOnce({ port, path: Math.random() < 0.2 ? '/missing' : '/' });
    await delay(20);
  }
}

/** `/stats` with the number of values instead of a histogram's quantiles. */
async function readStats(server: Sluice): Promise<ReadonlyMap<string, number>> {
  const stats = new Map<string, number>();
  const { body } = await server.admin('/stats?histogram_buckets=detailed');
  let histogram = '';
  for (const line of body.split('\n')) {
    const value = /^([^ ]+): (\d+)$/.exec(line);
    if (value !== null) stats.set(value[1] ?? '', Number(value[2]));
    histogram = /^([^ ]+):$/.exec(line)?.[1] ?? histogram;
    const totals = /^ {2}totals=(.*)$/.exec(line)?.[1];
    if (totals === undefined) continue;
    const counts = totals.split(', ').map((bucket) => Number(bucket.split(':')[1]));
    stats.set(
      `${histogram} count`,
      counts.reduce((sum, count) => sum + count, 0),
    );
  }
  return stats;
}

async function querySeries(port: number, job: string): Promise<Series> {
  const query = `/api/v1/query?query=${encodeURIComponent(`{job="${job}"}`)}`;
  const { body } = await fetchOnce({ port, path: query });
  const { data } = JSON.parse(body) as {
    data: {
      result: {
        metric: Record<string, string>;
        value?: [number, string];
        histogram?: [number, { count: string }];
      }[];
    };
  };
  const series = new Map<string, string>();
  for (const { metric, value, histogram } of data.result) {
    const { __name__: name = '', job: _job, instance: _instance, ...labels } = metric;
    const text = Object.entries(labels)
      .map(([label, labelValue]) => `${label}="${labelValue}"`)
      .sort()
      .join(',');
    if (value !== undefined) series.set(`${name}{${text}}`, value[1]);
    if (histogram !== undefined) series.set(`${name}_count{${text}}`, histogram[1].count);
  }
  return series;
}

/** Those statistics whose series follows from the name by its first two parts. */
function compare(
  stats: ReadonlyMap<string, number>,
  series: Series,
): { readonly compared: number; readonly wrong: readonly string[] } {
  const wrong: string[] = [];
  let compared = 0;
  for (const [stat, value] of stats) {
    const key = seriesOf(stat);
    const scraped = key === undefined ? undefined : series.get(key);
    if (scraped === undefined || MOVING.test(stat)) continue;
    compared++;
    if (Number(scraped) !== value) wrong.push(`${stat} is ${value}, ${key ?? ''} is ${scraped}`);
  }
  return { compared, wrong };
}

function seriesOf(stat: string): string | undefined {
  const [name = '', isCount] = stat.split(' ');
  const ending = isCount === undefined ? '' : '_count';
  const plain = /^(server|runtime|listener_manager|cluster_manager|filesystem)\.([\w.]+)$/.exec(
    name,
  );
  if (plain !== null) return `envoy_${name.replaceAll('.', '_')}${ending}{}`;
  const tagged = /^(cluster|http)\.(\w+)\.(\w+)$/.exec(name);
  if (tagged === null) return undefined;
  const [, kind = '', owner = '', last = ''] = tagged;
  const label = kind === 'cluster' ? 'envoy_cluster_name' : 'envoy_http_conn_manager_prefix';
  const { metric, code } = codeIn(last);
  const labels = [`${label}="${owner}"`, ...code].sort().join(',');
  return `envoy_${kind}_${metric}${ending}{${labels}}`;
}

/** `upstream_rq_2xx` and `upstream_rq_200` have the code in a label. */
function codeIn(last: string): { readonly metric: string; readonly code: readonly string[] } {
  const [, ofClass, digit] = /^(\w+_rq)_(\d)xx$/.exec(last) ?? [];
  if (ofClass !== undefined && digit !== undefined) {
    return { metric: `${ofClass}_xx`, code: [`envoy_response_code_class="${digit}"`] };
  }
  const [, ofCode, code] = /^(\w+_rq)_(\d{3})$/.exec(last) ?? [];
  if (ofCode === undefined || code === undefined) return { metric: last, code: [] };
  return { metric: ofCode, code: [`envoy_response_code="${code}"`] };
}

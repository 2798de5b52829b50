/**
 * The dashboard and the alert rules of docs/observability with the real programs: promtool reads
 * and tests the rules, a Prometheus server scrapes a server under traffic and answers every query.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { bootstrap, httpListener, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { fetchOnce } from '../../test/support/peers/http-client.ts';
import { CLOSED_PORT, startHttpUpstream } from '../../test/support/peers/upstream.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { check, passed, runProgram, type Trial, trialOf, trialOfAll } from './trial.ts';

const folder = join(import.meta.dirname, '../../../docs/observability');
const rules = join(folder, 'prometheus-alerts.yaml');
const dashboardFile = join(folder, 'grafana-dashboard.json');
const SCRAPES_MS = 14_000;

/** Rising by one each minute, and standing still. */
const TESTS = `
rule_files: [${rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'up{job="sluice", instance="a"}'
        values: '0x10'
      - series: 'envoy_cluster_upstream_rq_xx{instance="a", envoy_cluster_name="web", envoy_response_code_class="5"}'
        values: '0+10x10'
      - series: 'envoy_cluster_upstream_rq_xx{instance="a", envoy_cluster_name="web", envoy_response_code_class="2"}'
        values: '0+90x10'
      - series: 'envoy_cluster_upstream_rq_xx{instance="a", envoy_cluster_name="fine", envoy_response_code_class="5"}'
        values: '0+1x10'
      - series: 'envoy_cluster_upstream_rq_xx{instance="a", envoy_cluster_name="fine", envoy_response_code_class="2"}'
        values: '0+99x10'
      - series: 'envoy_cluster_membership_total{instance="a", envoy_cluster_name="web"}'
        values: '2x10'
      - series: 'envoy_cluster_membership_healthy{instance="a", envoy_cluster_name="web"}'
        values: '0x10'
      - series: 'envoy_cluster_circuit_breakers_default_rq_open{instance="a", envoy_cluster_name="web"}'
        values: '1x10'
      - series: 'envoy_cluster_manager_cds_update_rejected{instance="a"}'
        values: '0 0 0 0 0 0 0 1 1 1 1'
    promql_expr_test:
      - expr: count(ALERTS{alertname="SluiceErrors", alertstate="firing"})
        eval_time: 8m
        exp_samples: [{ labels: '{}', value: 1 }]
      - expr: count by (alertname) (ALERTS{alertstate="firing", alertname!~"SluiceErrors"})
        eval_time: 8m
        exp_samples:
          - { labels: '{alertname="SluiceDown"}', value: 1 }
          - { labels: '{alertname="SluiceClusterWithoutHosts"}', value: 1 }
          - { labels: '{alertname="SluiceHostsUnhealthy"}', value: 1 }
          - { labels: '{alertname="SluiceCircuitBreakerOpen"}', value: 1 }
          - { labels: '{alertname="SluiceConfigurationRefused"}', value: 1 }
`;

const alerts = trialOf('promtool', 'promtool reads the alert rules and tests them', async () => {
  using scratch = makeScratch();
  const checked = await runProgram('promtool', ['check', 'rules', rules]);
  const file = scratch.file('rules-test.yaml');
  writeFileSync(file, TESTS);
  await runProgram('promtool', ['test', 'rules', file]);
  return passed(`${/\d+ rules found/.exec(checked)?.[0] ?? ''}, tests passed`);
});

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** What a panel asks when everything is chosen. */
function queriesOf(): readonly { readonly title: string; readonly expr: string }[] {
  const { panels } = JSON.parse(readFileSync(dashboardFile, 'utf8')) as {
    readonly panels: readonly Panel[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll(/\$(instance|cluster)/g, '.*').replaceAll('$__rate_interval', '10s'),
    })),
  );
}

const tracing = {
  provider: {
    name: 'envoy.tracers.zipkin',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.ZipkinConfig',
      collector_cluster: 'collector',
      collector_endpoint: '/api/v2/spans',
      collector_endpoint_version: 'HTTP_JSON',
    },
  },
};

interface RunningPrometheus {
  readonly port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startPrometheus(
  config: string,
  options: readonly string[] = [],
): Promise<RunningPrometheus> {
  const scratch = makeScratch();
  const port = await freePort();
  writeFileSync(scratch.file('prometheus.yml'), config);
  const child = spawn(
    'prometheus',
    [
      `--config.file=${scratch.file('prometheus.yml')}`,
      `--storage.tsdb.path=${scratch.file('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      ...options,
    ],
    { stdio: 'ignore' },
  );
  const ready = async (): Promise<true | undefined> =>
    (await fetchOnce({ port, path: '/-/ready' }).catch(() => undefined))?.status === 200
      ? true
      : undefined;
  await waitUntil('Prometheus', ready);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      scratch[Symbol.dispose]();
    },
  };
}

/** Those of which a server without trouble, TLS and control plane has nothing to show. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  'First certificate expires in',
  'Updates that were refused',
]);

const dashboard = trialOfAll(
  ['prometheus', 'promtool'],
  'a Prometheus server answers every query of the dashboard and the alerts',
  async () => {
    await using upstream = await startHttpUpstream((asked, answer) => {
      answer.statusCode = asked.url === '/broken' ? 500 : 200;
      answer.end('answer');
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap(
        {
          listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
          clusters: [staticCluster('up', [upstream.port])],
        },
        { stats_flush_interval: '1s' },
      ),
    });
    const target = `127.0.0.1:${sluice.adminPort}`;
    const job = `{ job_name: sluice, metrics_path: /stats/prometheus, static_configs: [{ targets: ['${target}'] }] }`;
    await using running = await startPrometheus(
      `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [${rules}]\nscrape_configs: [${job}]\n`,
    );
    const { port } = running;
    const web = await sluice.listenerPort('web');
    const endMs = performance.now() + SCRAPES_MS;
    while (performance.now() < endMs) {
      await fetchOnce({ port: web, path: '/' });
      await fetchOnce({ port: web, path: '/broken' });
    }
    const empty: string[] = [];
    const queries = queriesOf();
    for (const { title, expr } of queries) {
      const path = `/api/v1/query?query=${encodeURIComponent(expr)}`;
      const { status, body } = await fetchOnce({ port, path });
      check(status === 200, `${title}: ${body}`);
      const { data } = JSON.parse(body) as { data: { result: { value: [number, string] }[] } };
      if (data.result.length === 0 && !MAY_BE_EMPTY.has(title)) empty.push(`${title}: ${expr}`);
    }
    check(empty.length === 0, `nothing is shown by ${empty.join('; ')}`);
    const { body } = await fetchOnce({ port, path: '/api/v1/rules' });
    const { data } = JSON.parse(body) as {
      data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    };
    const all = data.groups.flatMap((group) => group.rules);
    const failed = all.filter(({ health }) => health !== 'ok');
    check(all.length > 0 && failed.length === 0, JSON.stringify(failed));
    return passed(`${queries.length} queries with data, ${all.length} rules evaluated`);
  },
);

const openMetrics = trialOfAll(
  ['prometheus', 'promtool'],
  'a Prometheus server stores the sampled requests and help of an OpenMetrics page',
  async () => {
    await using upstream = await startHttpUpstream();
    await using sluice = await startSluice({
      bootstrap: bootstrap(
        {
          listeners: [
            httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }], {
              hcm: { tracing },
            }),
          ],
          clusters: [
            staticCluster('up', [upstream.port]),
            staticCluster('collector', [CLOSED_PORT]),
          ],
        },
        { stats_flush_interval: '1s' },
      ),
    });
    const target = `127.0.0.1:${sluice.adminPort}`;
    const job = `{ job_name: sluice, metrics_path: /stats/prometheus, params: { format: [openmetrics] }, static_configs: [{ targets: ['${target}'] }] }`;
    await using running = await startPrometheus(
      `global: { scrape_interval: 1s }\nscrape_configs: [${job}]\n`,
      ['--enable-feature=exemplar-storage'],
    );
    const { port } = running;
    const web = await sluice.listenerPort('web');
    const asked = async (path: string): Promise<unknown> => {
      const { status, body } = await fetchOnce({ port, path });
      check(status === 200, `${path}: ${body}`);
      return (JSON.parse(body) as { data: unknown }).data;
    };
    const day = Math.floor(Date.now() / 86_400_000) * 86_400;
    const query = `query=envoy_http_downstream_rq_time_bucket&start=${day}&end=${day + 172_800}`;
    const found = await waitUntil('an exemplar', async () => {
      await fetchOnce({ port: web, path: '/' });
      const data = await asked(`/api/v1/query_exemplars?${query}`);
      const exemplars = (data as { exemplars: { labels: { trace_id?: string } }[] }[]).flatMap(
        (series) => series.exemplars,
      );
      return exemplars.length > 0 ? exemplars : undefined;
    });
    const wrong = found.filter(({ labels }) => !/^[\da-f]{16,32}$/.test(labels.trace_id ?? ''));
    check(wrong.length === 0, JSON.stringify(wrong));
    const metadata = Object.values((await asked('/api/v1/metadata')) as Record<string, object>);
    const helped = metadata.flat().filter((each) => (each as { help: string }).help !== '');
    check(helped.length === metadata.length, `${metadata.length - helped.length} without help`);
    return passed(`${found.length} sampled requests stored, ${helped.length} metrics with help`);
  },
);

export const prometheus: readonly Trial[] = [alerts, dashboard, openMetrics];

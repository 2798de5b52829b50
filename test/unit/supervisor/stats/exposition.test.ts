import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs/minimal.js';
import { bucketOf } from '../../../../shared/stats/histogram-buckets.ts';
import { parseQuery } from '../../../../supervisor/http-pages/query.ts';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { messageFromBinary } from '../../../../supervisor/config/message-codec.ts';
import { BucketCounts } from '../../../../supervisor/stats/bucket-counts.ts';
import { chooseExposition } from '../../../../supervisor/stats-output/exposition.ts';
import { nativeHistogram } from '../../../../supervisor/stats-output/render/native-histogram.ts';
import { openMetricsTypes } from '../../../../supervisor/stats-output/render/openmetrics.ts';
import { prometheusPage } from '../../../../supervisor/stats-output/render/prometheus-page.ts';
import {
  prometheusPlan,
  type Family,
} from '../../../../supervisor/stats-output/render/prometheus-plan.ts';
import { protobufPage } from '../../../../supervisor/stats-output/render/protobuf-page.ts';
import { DEFAULT_BUCKETS } from '../../../../supervisor/stats/stats-config.ts';
import { LoopTurns } from '../../../../supervisor/loop/loop-turns.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import { EndpointStats } from '../../../../supervisor/stats/endpoint-stats.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { defaultTagRules } from '../../../../supervisor/stats/tags/default-tag-rules.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';
import { TagGroups } from '../../../../supervisor/stats/tags/tag-groups.ts';

const PROTOBUF = 'application/vnd.google.protobuf';
const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('the format of a scrape', () => {
  for (const [query, accept, wanted] of [
    ['', '', 'text'],
    ['', '*/*', 'text'],
    ['', PROMETHEUS, 'text'],
    ['', `${PROTOBUF};proto=io.prometheus.client.MetricFamily`, 'protobuf'],
    ['', `text/plain;q=0.1,${PROTOBUF};q=0.9`, 'text'],
    ['', `application/openmetrics-text,${PROTOBUF};q=0.1,text/plain`, 'protobuf'],
    ['', 'application/openmetrics-text; version=1.0.0', 'openmetrics'],
    ['prom_protobuf', 'text/plain', 'protobuf'],
    ['openmetrics', PROMETHEUS, 'openmetrics'],
  ] as const) {
    it(`is ${wanted} for '${accept}' with the query '${query}'`, () => {
      const given = parseQuery(query);
      const asked = {
        prom_protobuf: given.has('prom_protobuf'),
        openmetrics: given.has('openmetrics'),
      };
      assert.equal(chooseExposition(asked, accept), wanted);
    });
  }
});

function countsOf(values: readonly (readonly [value: number, count: number])[]): BucketCounts {
  const counts = new BucketCounts();
  for (const [value, count] of values) counts.add(bucketOf(value), count);
  return counts;
}

describe('a native histogram', () => {
  it('has the schema, spans and deltas that Envoy gives for the same values', () => {
    const counts = countsOf([
      [0, 4],
      [4, 1],
      [16, 1],
      [18, 1],
      [22, 1],
      [27, 1],
      [28, 1],
      [47, 1],
      [55, 1],
      [71, 1],
    ]);
    assert.deepEqual(nativeHistogram(counts, 20), {
      schema: 4,
      zeroThreshold: 0.5,
      zeroCount: 4,
      spans: [32, 31, 2, 4, 4, 11, 3, 5].map((offset) => ({ offset, length: 1 })),
      deltas: [1, 0, 0, 0, 1, -1, 0, 0],
    });
  });

  it('becomes coarser until it has no more buckets than allowed', () => {
    const counts = countsOf(Array.from({ length: 300 }, (_, index) => [index + 1, 1] as const));
    for (const limit of [1, 2, 5, 20, 160]) {
      const { deltas, schema } = nativeHistogram(counts, limit);
      assert.ok(deltas.length <= limit || schema === -4, `${deltas.length} buckets of ${limit}`);
    }
    assert.equal(nativeHistogram(counts, 1).schema, -4);
  });

  it('is one empty span without values', () => {
    const empty = nativeHistogram(new BucketCounts(), 20);
    assert.deepEqual([empty.schema, empty.spans], [3, [{ offset: 0, length: 0 }]]);
  });
});

async function familiesOf(store: StatStore): Promise<readonly Family[]> {
  const segments = await new OrderedView(store).segments();
  const groups = new TagGroups(new TagExtractor(defaultTagRules()), []);
  return await new LoopTurns().run(prometheusPlan(store, segments, groups));
}

function someStats(): StatStore {
  const store = new StatStore();
  store.add(store.defineCounter('cluster.a.upstream_rq_total'), 3);
  store.add(store.defineCounter('cluster.a.upstream_rq_200'), 2);
  store.add(store.defineCounter('cluster.a.upstream_cx_total'), 5);
  store.setGauge(store.defineGauge('cluster.a.membership_total'), 1);
  store.record(store.defineHistogram('cluster.a.upstream_rq_time'), 7);
  store.setText(store.defineTextReadout('control_plane.identifier'), 'a "name"\n');
  store.flushHistograms();
  return store;
}

const pageOptions = {
  selection: { usedOnly: false, hidden: 'exclude' },
  hasHelp: false,
  textReadouts: true,
  boundsOf: () => DEFAULT_BUCKETS,
  maxNativeBuckets: 20,
  exemplars: [],
  endpoints: new EndpointStats(new StatStore(), () => [], []),
} as const;

describe('the Prometheus page', () => {
  it('holds the same values as messages', async () => {
    const store = someStats();
    const options = {
      ...pageOptions,
      store,
      families: await familiesOf(store),
      exposition: 'protobuf',
      histogramMode: 'native',
    } as const;
    const catalog = new ApiCatalog();
    const decoded: Record<string, unknown> = {};
    const reader = protobuf.Reader.create(
      Buffer.concat([...protobufPage(options)].map((piece) => Buffer.from(piece))),
    );
    while (reader.pos < reader.len) {
      const family = messageFromBinary(
        { catalog, sink: { report: () => undefined }, unknownFields: 'refuse' },
        'io.prometheus.client.MetricFamily',
        reader.bytes(),
      );
      decoded[String(family?.['name'])] = family?.['metric'];
    }
    const cluster = { name: 'envoy_cluster_name', value: 'a' };
    assert.deepEqual(decoded['envoy_cluster_upstream_cx_total'], [
      { label: [cluster], counter: { value: 5 } },
    ]);
    assert.deepEqual(decoded['envoy_control_plane_identifier'], [
      { label: [{ name: 'text_value', value: 'a "name"\n' }], gauge: {} },
    ]);
    assert.deepEqual(decoded['envoy_cluster_upstream_rq_time'], [
      {
        label: [cluster],
        histogram: {
          sample_count: '1',
          sample_sum: 7.049645390070922,
          schema: 4,
          zero_threshold: 0.5,
          positive_span: [{ offset: 45, length: 1 }],
          positive_delta: ['1'],
        },
      },
    ]);
  });

  it('keeps the names of all samples in OpenMetrics, and ends as it wants', async () => {
    const store = someStats();
    const options = {
      ...pageOptions,
      store,
      families: await familiesOf(store),
      exposition: 'openmetrics',
      histogramMode: 'buckets',
    } as const;
    let text = '';
    for (const chunk of prometheusPage(options)) text += chunk;
    assert.match(
      text,
      /# TYPE envoy_cluster_upstream_cx counter\nenvoy_cluster_upstream_cx_total\{/,
    );
    assert.match(text, /# TYPE envoy_cluster_upstream_rq unknown\nenvoy_cluster_upstream_rq\{/);
    assert.match(text, /# TYPE envoy_cluster_upstream_rq_total unknown\n/);
    assert.match(text, /le="10\.0"\} 1\n/);
    assert.ok(text.endsWith('# EOF\n'));
  });

  it('gives no two families one name in OpenMetrics', () => {
    const family = (metric: string): Family => ({ metric, kind: 'counter', help: '', members: [] });
    const families = ['a_total', 'a', 'b_total'].map(family);
    const heads = families.map(openMetricsTypes(families));
    assert.deepEqual(heads, [
      { metric: 'a_total', type: 'unknown' },
      { metric: 'a', type: 'unknown' },
      { metric: 'b', type: 'counter' },
    ]);
  });
});

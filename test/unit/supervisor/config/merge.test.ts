import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runPipeline } from '../../../../supervisor/config/pipeline.ts';
import type { ConfigSource } from '../../../../supervisor/config/read-source.ts';
import { formatProblem } from '../../../../supervisor/config/config-error.ts';
import { bootstrapType } from './load.ts';

function source(name: string, text: string): ConfigSource {
  return { name, format: 'yaml', content: Buffer.from(text) };
}

async function merge(base: string, over: string): Promise<unknown> {
  const sources = [source('base.yaml', base), source('--config-yaml', over)];
  const result = await runPipeline(bootstrapType, sources, { unknownFields: 'refuse' });
  assert.deepEqual(
    result.problems.filter((problem) => problem.severity === 'error'),
    [],
  );
  return result.message;
}

describe('--config-yaml over a file', () => {
  it('merges messages and replaces scalars', async () => {
    assert.deepEqual(
      await merge('node: {id: a, cluster: c}\nflags_path: x', 'node: {id: b, locality: {zone: z}}'),
      { node: { id: 'b', cluster: 'c', locality: { zone: 'z' } }, flags_path: 'x' },
    );
  });

  it('appends to lists', async () => {
    assert.deepEqual(
      await merge(
        'static_resources: {clusters: [{name: a}]}',
        'static_resources: {clusters: [{name: b}]}',
      ),
      { static_resources: { clusters: [{ name: 'a' }, { name: 'b' }] } },
    );
  });

  it('adds and replaces map and Struct entries', async () => {
    assert.deepEqual(
      await merge('node: {metadata: {a: 1, b: {x: 1}}}', 'node: {metadata: {b: {y: 2}, c: 3}}'),
      { node: { metadata: { a: 1, b: { y: 2 }, c: 3 } } },
    );
  });

  it('lets a field of a oneof take the place of another', async () => {
    assert.deepEqual(
      await merge(
        'admin: {address: {socket_address: {address: a, port_value: 1}}}',
        'admin: {address: {pipe: {path: /p}}}',
      ),
      { admin: { address: { pipe: { path: '/p' } } } },
    );
  });

  it('merges durations and wrapped values as the messages that they are', async () => {
    assert.deepEqual(
      await merge(
        'stats_flush_interval: 5s\nstats_config: {use_all_default_tags: true}',
        'stats_flush_interval: 0.5s\nstats_config: {use_all_default_tags: false}',
      ),
      { stats_flush_interval: '5.500s', stats_config: { use_all_default_tags: true } },
    );
    assert.deepEqual(
      await merge(
        'stats_flush_interval: 5.5s\nstats_config: {use_all_default_tags: false}',
        'stats_flush_interval: 2s\nstats_config: {use_all_default_tags: true}',
      ),
      { stats_flush_interval: '2.500s', stats_config: { use_all_default_tags: true } },
    );
  });

  it('names the source of each mistake', async () => {
    const sources = [
      source('base.yaml', 'static_resources: {clusters: [{name: a}, {name: ""}]}'),
      source('--config-yaml', 'static_resources:\n  clusters:\n  - name: ""\nnode: {id: 5}'),
    ];
    const result = await runPipeline(bootstrapType, sources, { unknownFields: 'refuse' });
    assert.deepEqual(result.problems.map(formatProblem), [
      '--config-yaml:4:12: node.id: expected a string, found the number 5',
      'base.yaml:1:49: static_resources.clusters[1].name: value length must be at least 1 characters',
      '--config-yaml:3:11: static_resources.clusters[2].name: value length must be at least 1 characters',
    ]);
  });
});

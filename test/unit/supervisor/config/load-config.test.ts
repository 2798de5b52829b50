import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Bootstrap } from '../../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { ConfigError } from '../../../../supervisor/config/config-error.ts';
import { loadBootstrap, loadMessageFile } from '../../../../supervisor/config/load-config.ts';
import { at, type Problem } from '../../../../supervisor/config/problem.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-config-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const strict = { unknownFields: 'refuse' } as const;

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A later check that finds one mistake. */
function found(problem: Omit<Problem, 'severity'>): () => Promise<readonly Problem[]> {
  return () => Promise.resolve([{ severity: 'error', ...problem }]);
}

async function configError(promise: Promise<unknown>): Promise<ConfigError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  return assert.fail('it was accepted');
}

describe('The format of a configuration file', () => {
  const yaml = 'node: {id: a}';
  const json = '{"node": {"id": "a"}}';
  const text = 'node { id: "a" }';
  const binary = Buffer.from('0a030a0161', 'hex');
  for (const [name, content] of [
    ['b.yaml', yaml],
    ['b.yml', yaml],
    ['b.YAML', yaml],
    ['b.json', json],
    ['b.conf', json],
    ['b', json],
    ['b.pb_text', text],
    ['b.PB_TEXT', text],
    ['b.pb', binary],
  ] as const) {
    it(`is known by its name: ${name}`, async () => {
      const { message } = await loadBootstrap({ configPath: write(name, content) }, strict);
      assert.deepEqual(message, { node: { id: 'a' } });
    });
  }

  it('is not guessed from its content', async () => {
    const error = await configError(loadBootstrap({ configPath: write('c.json', yaml) }, strict));
    assert.match(error.message, /^Unable to parse JSON as proto/);
  });
});

describe('loadBootstrap', () => {
  it('merges --config-yaml over the file, and takes it alone', async () => {
    const configPath = write('m.yaml', 'node: {id: a, cluster: c}');
    const both = await loadBootstrap({ configPath, configYaml: '{"node": {"id": "b"}}' }, strict);
    assert.deepEqual(both.message, { node: { id: 'b', cluster: 'c' } });
    const alone = await loadBootstrap({ configYaml: 'node: {id: b}' }, strict);
    assert.deepEqual(alone.message, { node: { id: 'b' } });
  });

  it('accepts an empty bootstrap', async () => {
    const { message } = await loadBootstrap({ configYaml: '{}' }, strict);
    assert.deepEqual(message, {});
  });

  it('reads a pipe once, to its end', async () => {
    const configPath = join(folder, 'fifo.yaml');
    execFileSync('mkfifo', [configPath]);
    const [loaded] = await Promise.all([
      loadBootstrap({ configPath }, strict),
      writeFile(configPath, 'node: {id: a}'),
    ]);
    assert.deepEqual(loaded.message, { node: { id: 'a' } });
  });

  it('refuses to load nothing', async () => {
    const error = await configError(loadBootstrap({}, strict));
    assert.equal(error.code, 'config_unreadable');
    assert.match(error.message, /^At least one of --config-path or --config-yaml/);
  });

  it('says why a file cannot be read', async () => {
    const missing = await configError(
      loadBootstrap({ configPath: join(folder, 'none.yaml') }, strict),
    );
    assert.match(missing.message, /^Invalid path: .*none\.yaml\n {2}cannot read .*: no such file$/);
    const directory = await configError(loadBootstrap({ configPath: folder }, strict));
    assert.match(directory.message, /: it is a directory$/);
  });

  it('gives the mistakes with file, line and column', async () => {
    const configPath = write('bad.yaml', 'admin:\n  acces_log: []\nnode:\n  id: 5\n');
    const error = await configError(loadBootstrap({ configPath }, strict));
    assert.equal(error.code, 'config_invalid');
    assert.deepEqual(error.message.split('\n').slice(1), [
      `  ${configPath}:4:7: node.id: expected a string, found the number 5`,
      `  ${configPath}:2:3: admin.acces_log: no such field: 'acces_log' in envoy.config.bootstrap.v3.Admin (did you mean access_log?)`,
    ]);
  });

  it('finds the places of problems that later checks report', async () => {
    const configPath = write('later.yaml', 'static_resources:\n  clusters:\n  - name: a\n');
    const place = at(at(at(at(undefined, 'static_resources'), 'clusters'), 0), 'name');
    const error = await configError(
      loadBootstrap(
        { configPath },
        { ...strict, check: found({ place, message: 'a bad name', rule: 'name' }) },
      ),
    );
    assert.equal(
      error.message,
      `${configPath}:3:11: static_resources.clusters[0].name: a bad name`,
    );
  });
});

describe('Mistakes in what a message means', () => {
  const clusters = at(at(undefined, 'static_resources'), 'clusters');
  const linesOf = async (text: string, later: Omit<Problem, 'severity'>): Promise<string[]> => {
    const error = await configError(
      loadBootstrap({ configYaml: text }, { ...strict, check: found(later) }),
    );
    return error.problems.map(({ rule }) => rule);
  };
  const text = 'static_resources: {clusters: [{nam: a}, {name: b}]}';

  it('are reported together with those in its form', async () => {
    const place = at(clusters, 1);
    assert.deepEqual(await linesOf(text, { place, message: 'no', rule: 'conflict' }), [
      'unknown_field',
      'conflict',
    ]);
  });

  it('are left out where a mistake in its form explains them', async () => {
    const place = at(clusters, 0);
    const rules = await linesOf(text, { place, message: 'no', rule: 'conflict' });
    assert.ok(!rules.includes('conflict'));
    const named = await linesOf(text, { place: at(clusters, 1), message: 'no', rule: 'reference' });
    assert.ok(!named.includes('reference'));
  });

  it('are not looked for in a text that cannot be read', async () => {
    const place = at(clusters, 1);
    assert.deepEqual(await linesOf('a: [', { place, message: 'no', rule: 'conflict' }), [
      'yaml.syntax',
    ]);
  });
});

describe('A large configuration', () => {
  const clusters = Array.from(
    { length: 3000 },
    (_unused, index) => `  - name: cluster_${index}\n    connect_timeout: 0.25s\n`,
  ).join('');
  const text = `node: {id: a}\nstatic_resources:\n  clusters:\n${clusters}`;

  it('is read in a pool thread with the same result', async () => {
    const configPath = write('large.yaml', text);
    const pooled = await loadBootstrap({ configPath }, strict);
    const inline = await loadBootstrap({ configPath }, { ...strict, inlineLimitBytes: 1e9 });
    assert.equal(pooled.message.static_resources?.clusters?.length, 3000);
    assert.deepEqual(pooled.message, inline.message);
  });

  it('has its mistakes reported from there, later ones too', async () => {
    const configPath = write('large-bad.yaml', `${text}  - name: ""\n  - nam: x\n`);
    const error = await configError(loadBootstrap({ configPath }, strict));
    assert.match(
      error.message,
      /large-bad\.yaml:6004:11: static_resources\.clusters\[3000\]\.name/,
    );
    assert.match(error.message, /large-bad\.yaml:6005:5: .*did you mean name\?/);
    const place = at(at(at(undefined, 'static_resources'), 'clusters'), 2999);
    const later = await configError(
      loadBootstrap(
        { configPath: write('large.yaml', text) },
        { ...strict, check: found({ place, message: 'no', rule: 'r' }) },
      ),
    );
    assert.match(later.message, /large\.yaml:6002:5: static_resources\.clusters\[2999\]: no$/);
  });
});

describe('loadMessageFile', () => {
  it('reads a message of any type', async () => {
    const path = write('node.yaml', 'id: a');
    const type = 'envoy.config.core.v3.Node';
    const { message } = await loadMessageFile<Bootstrap['node']>(type, path, strict);
    assert.deepEqual(message, { id: 'a' });
  });
});

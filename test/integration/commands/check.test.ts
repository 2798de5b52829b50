/** `sluice check` over several files. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { runSluice } from '../../support/programs/sluice.ts';

const CLUSTER = 'static_resources:\n  clusters:\n  - name: a\n    connect_timeout: 1s\n';
const API = 'type.googleapis.com/envoy.extensions';

const FILES: ReadonlyMap<string, string> = new Map([
  ['ok.yaml', CLUSTER],
  ['invalid.yaml', CLUSTER.replace('connect_timeout', 'conect_timeout')],
  ['unreadable.yaml', 'a: ['],
  [
    'unsupported.yaml',
    `${CLUSTER}    transport_socket:
      name: t
      typed_config:
        "@type": ${API}.transport_sockets.alts.v3.Alts
        handshaker_service: a:1
`,
  ],
]);

function write(scratch: Scratch, ...names: string[]): string[] {
  return names.map((name) => {
    const path = scratch.file(name);
    writeFileSync(path, FILES.get(name) ?? assert.fail(name));
    return path;
  });
}

const nodeOptions = ['--', '--service-node', 'n', '--service-cluster', 'c'];

describe('sluice check', () => {
  const verdicts: readonly [name: string, verdict: string, code: number][] = [
    ['ok.yaml', 'ok', 0],
    ['invalid.yaml', 'invalid', 1],
    ['unreadable.yaml', 'unreadable', 1],
    ['unsupported.yaml', 'unsupported', 3],
  ];
  for (const [name, verdict, code] of verdicts) {
    it(`calls ${name} ${verdict} and exits with ${code}`, async () => {
      using scratch = makeScratch();
      const [path = ''] = write(scratch, name);
      const result = await runSluice(['check', path, ...nodeOptions]);
      assert.equal(result.code, code, result.stderr);
      assert.match(result.stdout, new RegExp(`^${verdict} +\\S+/${name}\n`));
      assert.match(result.stdout, new RegExp(`\n1 file: 1 ${verdict}\n`));
    });
  }

  it('says in one JSON document what each file would lose', async () => {
    using scratch = makeScratch();
    const paths = write(scratch, 'ok.yaml', 'unsupported.yaml', 'invalid.yaml');
    const { code, stdout } = await runSluice([
      'check',
      '--format',
      'json',
      ...paths,
      ...nodeOptions,
    ]);
    assert.equal(code, 1);
    const report = JSON.parse(stdout) as {
      files: { config_path: string; verdict: string; loses: string[]; problems: unknown[] }[];
      summary: { ok: number; unsupported: number; invalid: number; lost: { files: number }[] };
    };
    assert.deepEqual(
      report.files.map((file) => [file.config_path, file.verdict, file.loses.length]),
      [
        [paths[0], 'ok', 0],
        [paths[1], 'unsupported', 1],
        [paths[2], 'invalid', 0],
      ],
    );
    assert.equal(report.summary.unsupported, 1);
    assert.deepEqual(
      report.summary.lost.map(({ files }) => files),
      [1],
    );
  });

  it('prints one SARIF run for all files', async () => {
    using scratch = makeScratch();
    const paths = write(scratch, 'unsupported.yaml', 'invalid.yaml');
    const { stdout } = await runSluice(['check', '--format=sarif', ...paths, ...nodeOptions]);
    const log = JSON.parse(stdout) as { runs: { results: { locations: object[] }[] }[] };
    const text = JSON.stringify(log.runs[0]?.results);
    for (const path of paths) assert.ok(text.includes(path), path);
  });

  it('leaves files alone and opens nothing', async () => {
    using scratch = makeScratch();
    const [path = ''] = write(scratch, 'ok.yaml');
    await runSluice(['check', '--quiet', path, ...nodeOptions]);
    assert.equal(readFileSync(path, 'utf8'), CLUSTER);
  });

  for (const words of [['check'], ['check', '--nosuch', 'x'], ['check', '--format', 'xml', 'x']]) {
    it(`refuses ${words.join(' ')} with code 2 and its usage`, async () => {
      const { code, stderr } = await runSluice(words);
      assert.equal(code, 2);
      assert.match(stderr, /\nusage: sluice check/);
    });
  }
});

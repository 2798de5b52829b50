/**
 * Damages bootstraps at random and loads them: no exception, no hang, and every refusal has a
 * place. SLUICE_FUZZ_RUNS sets how many (400); the seed is fixed. A share of them goes through the
 * command line and `--mode validate` as a whole.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import textformat from 'protobufjs/ext/textformat.js';
import { stringify } from 'yaml';
import type { Bootstrap } from '../../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { ConfigError } from '../../../../supervisor/config/config-error.ts';
import { loadMessageBytes } from '../../../../supervisor/config/load-config.ts';
import type { Problem } from '../../../../supervisor/config/problem.ts';
import { resolveBootstrap } from '../../../../supervisor/resources/bootstrap/resolve-bootstrap.ts';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { encodeMessage } from '../../../../supervisor/config/convert/message-encoder.ts';
import { loadWholeApi } from '../../../../supervisor/config/convert/protobuf-root.ts';
import type { SourceFormat } from '../../../../supervisor/config/source/source-format.ts';
import { validateConfiguration } from '../../../../supervisor/validation/validate-configuration.ts';
import { commandLineContext } from '../../../../src/options/command-line-context.ts';
import { parseOptions } from '../../../../src/options/parse-options.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { bootstrapType } from './load.ts';
import { NO_OVERRIDES } from '../resources/resolve-text.ts';

const runs = Number(process.env['SLUICE_FUZZ_RUNS'] ?? 400);
const slowestMs = 1000;

const base = {
  node: { id: 'n', cluster: 'c', metadata: { a: [1, 'x', null, { b: true }] } },
  admin: { address: { socket_address: { address: '127.0.0.1', port_value: 9901 } } },
  static_resources: {
    listeners: [
      {
        name: 'l',
        address: { socket_address: { address: '0.0.0.0', port_value: 80 } },
        filter_chains: [
          {
            filters: [
              {
                name: 'hcm',
                typed_config: {
                  '@type':
                    'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
                  stat_prefix: 'in',
                  stream_idle_timeout: '5s',
                  route_config: {
                    virtual_hosts: [
                      {
                        name: 'v',
                        domains: ['*'],
                        routes: [
                          { match: { prefix: '/' }, route: { cluster: 'a', timeout: '1.500s' } },
                          { match: { path: '/x' }, direct_response: { status: 200 } },
                        ],
                      },
                    ],
                  },
                },
              },
            ],
          },
        ],
      },
    ],
    clusters: [
      {
        name: 'a',
        connect_timeout: '0.250s',
        lb_policy: 'RANDOM',
        circuit_breakers: { thresholds: [{ max_connections: 5, priority: 'HIGH' }] },
        health_checks: [
          {
            timeout: '1s',
            interval: '1s',
            unhealthy_threshold: 1,
            healthy_threshold: 1,
            http_health_check: { path: '/' },
          },
        ],
      },
    ],
  },
  stats_flush_interval: '5s',
};

const context = commandLineContext();
const catalog = new ApiCatalog();
const binary = Buffer.from(encodeMessage(catalog, catalog.message(bootstrapType), base));
const wholeApi = loadWholeApi().lookupType(bootstrapType);
const texts: Readonly<Record<SourceFormat, Buffer>> = {
  yaml: Buffer.from(stringify(base)),
  json: Buffer.from(JSON.stringify(base, undefined, 1)),
  pb: binary,
  pb_text: Buffer.from(textformat.toText(wholeApi, wholeApi.decode(binary))),
};

/** Reading the text format takes longer: it loads the API again each time. */
const shares: Readonly<Record<SourceFormat, number>> = { yaml: 3, json: 3, pb: 3, pb_text: 50 };

const intruders = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  "'",
  '\\',
  '\n',
  '\t',
  '&a ',
  '*a',
  '<<: ',
  '!x ',
  '|',
  'null',
  '-1',
  '1e99',
  '99999999999',
  '"\\ud800"',
  '\0',
  '\ufeff',
  '# ',
  '---\n',
  '%',
  '@',
];

/** A small generator with a fixed seed. */
function random(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * limit);
  };
}

function damage(content: Buffer, below: (limit: number) => number): Buffer {
  let damaged = content;
  for (let times = 1 + below(3); times > 0; times -= 1) {
    const from = below(damaged.length);
    const to = Math.min(damaged.length, from + below(12));
    const head = damaged.subarray(0, from);
    const tail = damaged.subarray(to);
    switch (below(5)) {
      case 0:
        damaged = Buffer.concat([head, tail]);
        break;
      case 1:
        damaged = Buffer.concat([
          head,
          Buffer.from(intruders[below(intruders.length)] ?? ''),
          tail,
        ]);
        break;
      case 2:
        damaged = Buffer.concat([damaged.subarray(0, to), damaged.subarray(from)]);
        break;
      case 3:
        damaged = Buffer.concat([head, Buffer.from([below(256)]), damaged.subarray(from + 1)]);
        break;
      default:
        damaged = damaged.subarray(0, Math.max(1, damaged.length - below(40)));
    }
  }
  return damaged;
}

/** The problems of its form and of its meaning. */
async function problemsOf(content: Buffer, format: SourceFormat): Promise<readonly Problem[]> {
  try {
    const source = { name: `fuzz.${format}`, format, content };
    const loaded = await loadMessageBytes<Bootstrap>(bootstrapType, source, {
      unknownFields: 'refuse',
      check: async (message) => (await resolveBootstrap(message, NO_OVERRIDES)).problems,
    });
    return loaded.warnings;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}

describe('A damaged bootstrap', () => {
  for (const format of ['yaml', 'json', 'pb', 'pb_text'] as const) {
    it(`in ${format} is refused with a place, or still good`, async () => {
      const below = random(4711);
      let refused = 0;
      for (let run = 0; run < runs / shares[format]; run += 1) {
        const content = damage(texts[format], below);
        const started = process.cpuUsage();
        const problems = await problemsOf(content, format);
        const errors = problems.filter((problem) => problem.severity === 'error');
        refused += errors.length > 0 ? 1 : 0;
        for (const error of errors) {
          assert.ok((error.position?.line ?? 0) > 0, `${error.message} has no position`);
          assert.ok(error.message.length > 0);
        }
        const { user, system } = process.cpuUsage(started);
        assert.ok((user + system) / 1000 < slowestMs, `run ${run} took too long`);
      }
      assert.ok(refused > runs / shares[format] / 4, `only ${refused} were refused`);
    });
  }

  it('gives the program exit code 1 with a place, or 0', async () => {
    using scratch = makeScratch();
    const below = random(815);
    const codes = [0, 0];
    for (let run = 0; run < runs / 20; run += 1) {
      const format = run % 10 === 0 ? 'pb_text' : (['yaml', 'json', 'pb'] as const)[run % 3]!;
      const path = scratch.file(`damaged.${format}`);
      writeFileSync(path, damage(texts[format], below));
      const { code, errors } = await validate(path);
      codes[code] = (codes[code] ?? 0) + 1;
      assert.equal(code, errors.length > 0 ? 1 : 0);
      for (const { file, line, message } of errors) {
        assert.equal(file, path, message);
        assert.ok((line ?? 0) > 0, `${message} has no line`);
      }
    }
    assert.ok((codes[1] ?? 0) > runs / 80, `only ${codes[1]} were refused`);
  });
});

interface Reported {
  readonly severity: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

/** What the program answers, without a process of its own. */
async function validate(path: string): Promise<{ code: 0 | 1; errors: readonly Reported[] }> {
  const words = ['--mode', 'validate', '--validate-format', 'json', '-c', path];
  const parsed = parseOptions(words, context);
  assert.ok(parsed.kind === 'run');
  let printed = '';
  const code = await validateConfiguration(parsed.options, (text) => {
    printed += text;
  });
  const { problems } = JSON.parse(printed) as { problems: readonly Reported[] };
  return { code, errors: problems.filter(({ severity }) => severity === 'error') };
}

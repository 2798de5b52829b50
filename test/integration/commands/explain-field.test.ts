/** `sluice explain-field` and `sluice basic-auth`, as they are typed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readFieldComments } from '../../../shared/api/descriptor.ts';
import { findField } from '../../../src/commands/explain-field/find-field.ts';
import { fieldPage } from '../../../src/commands/explain-field/field-page.ts';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { runSluice } from '../../support/programs/sluice.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.js');
const catalog = new ApiCatalog();

const pages: readonly [path: string, ...parts: RegExp[]][] = [
  [
    'static_resources.clusters[0].connect_timeout',
    /^envoy\.config\.cluster\.v3\.Cluster\.connect_timeout$/m,
    /type +a duration/,
    /rule +greater than 0s/,
    /default value of 5s/,
  ],
  ['Cluster.lb_policy', /type +one of ROUND_ROBIN, /, /default +ROUND_ROBIN/],
  ['HttpConnectionManager.statPrefix', /rule +characters, at least: 1/],
  ['type.googleapis.com/envoy.extensions.filters.http.router.v3.Router', /dynamic_stats +Whether/],
  ['admin.address', /type +envoy\.config\.core\.v3\.Address/, /socket_address /],
  ['node.metadata', /an object of any members/],
  [
    'envoy.config.route.v3.RouteAction.cluster',
    /instead +cluster_header, weighted_clusters.*one is needed/,
  ],
];

const refusals: readonly [path: string, reason: RegExp][] = [
  ['static_resources.cluster', /has no field cluster: did you mean clusters\?/],
  ['HttpConectionManager', /no message HttpConectionManager: did you mean HttpConnectionManager\?/],
  [
    'Filter.typed_config.stat_prefix',
    /Filter is the name of \d+ messages|begin at that of its @type/,
  ],
  ['Cluster.name.x', /Cluster\.name has no fields/],
  ['__proto__', /has no field __proto__/],
  ['constructor.x', /has no field constructor/],
];

describe('sluice explain-field', () => {
  for (const [path, ...parts] of pages) {
    it(`explains ${path}`, () => {
      const found = findField(catalog, path);
      if (typeof found === 'string') return assert.fail(found);
      const page = fieldPage(found, readFieldComments());
      for (const part of parts) assert.match(page, part);
      return undefined;
    });
  }

  for (const [path, reason] of refusals) {
    it(`says what is wrong with ${path}`, () => {
      const found = findField(catalog, path);
      assert.match(typeof found === 'string' ? found : 'found', reason);
    });
  }

  it('prints on the terminal, and ends with 1 where there is no field', async () => {
    const found = await runSluice(['explain-field', 'Listener.name']);
    assert.equal(found.code, 0);
    assert.match(found.stdout, /unique name by which this listener is known/);
    const missing = await runSluice(['explain-field', 'Listener.nme']);
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    assert.equal((await runSluice(['explain-field'])).code, 2);
  });

  it('has a comment for most fields, all of which the API has', () => {
    const comments = readFieldComments();
    let count = 0;
    const strangers: string[] = [];
    for (const [message, fields] of comments) {
      for (const name of fields.keys()) {
        count++;
        if (catalog.findMessage(message)?.field(name) === undefined)
          strangers.push(`${message}.${name}`);
      }
    }
    assert.ok(count > 3_000, `${count} comments`);
    // What the overlay took away.
    assert.ok(strangers.length < 20, strangers.join(', '));
  });
});

describe('sluice basic-auth', () => {
  const run = (input: string, ...words: string[]) =>
    spawnSync(process.execPath, [MAIN, 'basic-auth', ...words], { input, encoding: 'utf8' });

  it('makes the line that the filter takes', () => {
    const hash = createHash('sha1').update('pass word').digest('base64');
    const { status, stdout } = run('pass word\r\nsecond line\n', 'ann');
    assert.deepEqual([status, stdout], [0, `ann:{SHA}${hash}\n`]);
  });

  it('refuses what makes no line', () => {
    assert.equal(run('x\n', 'a:b').status, 2);
    assert.equal(run('\n', 'ann').status, 1);
    assert.equal(run(`${'x'.repeat(5_000)}\n`, 'ann').status, 1);
  });
});

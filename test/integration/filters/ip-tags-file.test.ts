/** Tags of addresses that stand in a file, and the file that is moved into its place. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const ROUTER = { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } };
const scratch = makeScratch();

function listener(ip_tags_datasource: object): object {
  const tagging = { '@type': `${TYPE}.ip_tagging.v3.IPTagging`, ip_tags_datasource };
  const headers = [{ name: 'x-envoy-ip-tags', string_match: { prefix: 't' } }];
  const header = { key: 'x-tag', value: '%REQ(x-envoy-ip-tags)%' };
  const answer = { direct_response: { status: 200 }, response_headers_to_add: [{ header }] };
  return httpListener(
    [
      { match: { prefix: '/', headers }, ...answer },
      { match: { prefix: '/' }, direct_response: { status: 204 } },
    ],
    { hcm: { http_filters: [{ name: 'ip_tagging', typed_config: tagging }, ROUTER] } },
  );
}

function put(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const tags = (name: string, prefix: string): string =>
  `ip_tags:\n- ip_tag_name: ${name}\n  ip_list:\n  - {address_prefix: ${prefix}, prefix_len: 8}\n`;

it('takes the tags of a file, and those that are moved into its place, in all workers', async () => {
  const path = scratch.file('tags.yaml');
  put(path, tags('t-first', '127.0.0.0'));
  const source = { filename: path, watched_directory: { path: join(path, '..') } };
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [listener(source)], clusters: [] }),
    concurrency: 2,
  });
  const port = await sluice.listenerPort('web');
  const tag = async (): Promise<unknown> => (await fetchOnce({ port })).headers['x-tag'];
  assert.equal(await tag(), 't-first');
  put(path, tags('t-second', '127.0.0.0'));
  const prefix = 'http.web.ip_tagging';
  await sluice.waitForStat(`${prefix}.reload_success`, (count) => count === 1);
  assert.equal(await tag(), 't-second');
  put(path, 'ip_tags: [');
  await waitUntil('the old tags stay', () => sluice.stderr().includes('the tags before it stay'));
  assert.equal(await tag(), 't-second');
  put(path, tags('t-third', '10.0.0.0'));
  await sluice.waitForStat(`${prefix}.reload_success`, (count) => count === 2);
  assert.equal(await tag(), undefined);
  assert.equal(await sluice.stat(`${prefix}.t-first.hit`), 1);
  assert.equal(await sluice.stat(`${prefix}.t-second.hit`), 2);
  assert.equal(await sluice.stat(`${prefix}.no_hit`), 1);
});

const REFUSED: readonly (readonly [name: string, text: string, words: RegExp])[] = [
  ['tags.txt', '{}', /Unsupported file format, unable to parse ip tags from file/],
  ['empty.json', '', /is empty/],
  ['odd.yaml', 'ip_tags: [{ip_tag_name: x, nope: 1}]', /nope/],
  ['bad.json', '{"ip_tags":[{"ip_list":[{"address_prefix":"zz","prefix_len":8}]}]}', /zz/],
  ['cut.json', '{"ip_tags":[', /ip_tags_datasource/],
];

for (const [name, text, words] of REFUSED) {
  it(`refuses ${name} at the start`, async () => {
    const path = scratch.file(name);
    writeFileSync(path, text);
    const config = scratch.file(`${name}.json`);
    const listeners = [listener({ filename: path })];
    writeFileSync(config, JSON.stringify(bootstrap({ listeners, clusters: [] })));
    const { code, stderr } = await runSluice(['--mode', 'validate', '-c', config]);
    assert.deepEqual([code, words.test(stderr)], [1, true], stderr);
  });
}

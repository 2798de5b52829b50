/**
 * Matcher trees and lists of texts as large as configurations get: a request costs the worker what
 * its kind of search costs, and nothing is made when the first one asks.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf, mainThreadMs } from '../../support/programs/processes.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const COUNT = attackRuns(20_000, 200_000);
const REQUESTS = 30;
/**
 * The limit of the worker's processor time for one request; a tree that is made when it is asked
 * takes longer.
 */
const FIRST_MS = attackRuns(60, 120);
const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';
const indices = Array.from({ length: COUNT }, (_, at) => at);
const decision = (action: string): object => ({
  action: {
    name: action,
    typed_config: {
      '@type': 'type.googleapis.com/envoy.config.rbac.v3.Action',
      name: action,
      action,
    },
  },
});
const input = {
  name: 'key',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
    header_name: 'x-key',
  },
};
const DENY = decision('DENY');
const map = Object.fromEntries(indices.map((at) => [`key-${at}`, DENY]));

function rbac(tree: object): object {
  const matcher = { matcher_tree: { input, ...tree }, on_no_match: decision('ALLOW') };
  return { name: 'rbac', typed_config: { '@type': `${HTTP}.rbac.v3.RBAC`, matcher } };
}

const csrf = {
  name: 'csrf',
  typed_config: {
    '@type': `${HTTP}.csrf.v3.CsrfPolicy`,
    filter_enabled: { default_value: { numerator: 100 } },
    additional_origins: indices.map((at) => ({ exact: `h${at}.example` })),
  },
};

/** The filter, what a request may take, a header that is found, one that is not. */
const ROWS = {
  'an exact tree': [rbac({ exact_match_map: { map } }), 5, `key-${COUNT - 1}`, 'no'.repeat(2000)],
  'a tree of prefixes': [rbac({ prefix_match_map: { map } }), 10, 'key-7/x', 'key/'.repeat(1000)],
  'a list of origins': [csrf, 15, `http://h${COUNT - 1}.example`, 'http://nosuch.example'],
} as const;

describe('a matcher as large as configurations get', () => {
  for (const [kind, [filter, eachMs, found, other]] of Object.entries(ROWS)) {
    it(`is searched fast: ${kind}`, async () => {
      const router = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
      const route = { match: { prefix: '/' }, direct_response: { status: 200 } };
      const hcm = { http_filters: [filter, router] };
      await using sluice = await startSluice({
        bootstrap: bootstrap({ listeners: [httpListener([route], { hcm })] }),
      });
      const port = await sluice.listenerPort('web');
      const [worker = 0] = childrenOf(sluice.pid);
      const ask = async (value: string): Promise<number> => {
        const headers = { 'x-key': value, origin: value };
        return (await fetchOnce({ port, method: 'POST', headers })).status;
      };
      const before = mainThreadMs(worker);
      // What is listed is denied by a tree, and allowed by a list of origins.
      assert.deepEqual(
        [await ask(found), await ask(other)],
        filter === csrf ? [200, 403] : [403, 200],
      );
      const after = mainThreadMs(worker);
      assert.ok(after - before < FIRST_MS, `the first: ${after - before} ms`);
      for (let request = 0; request < REQUESTS; request++) await ask(other);
      const each = (mainThreadMs(worker) - after) / REQUESTS;
      assert.ok(each < eachMs, `each: ${each} ms`);
    });
  }
});

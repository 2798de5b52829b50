/**
 * Messages with a oneof unset, an empty source or a missing part: taken or refused as Envoy does,
 * and in its words (recorded).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Problem } from '../../../../supervisor/config/problem.ts';
import { resolveConfig } from './resolve-text.ts';

interface IncompleteMessage {
  readonly name: string;
  readonly verdict: 'accepted' | 'refused';
  /** The first line of the reason; absent where Envoy broke down. */
  readonly said?: string;
  readonly bootstrap: object;
}

const path = '../../../../../test/unit/supervisor/resources/golden/incomplete-messages.json';
const { cases } = JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8')) as {
  cases: readonly IncompleteMessage[];
};

/** Accepted by Envoy and refused here, by the message that says why. */
const REFUSED_HERE = /not supported yet|needs dns_cache_config|locality_config_specifier/;

/** Refused by both, for another of several reasons or in words that say more. */
const SAID_OTHERWISE = new Set([
  // Envoy looks at the node first, or at what the balancer's factory finds.
  'cluster {"type": "EDS", "eds_cluster_config": {}}',
  'bootstrap {"layered_runtime": {"layers": [{"name": "a", "rtds_layer": {}}]}}',
  'cluster {"cluster_type": {"name": "envoy.clusters.aggregate"}}',
  'lb wrr_locality.v3.WrrLocality {}',
  'lb subset.v3.Subset {}',
  'lb subset.v3.Subset {"subset_lb_policy": {}}',
  // Which part is missing.
  'pkcs12: absent',
  'tls {"tls_certificates": [{}]}',
  'cluster {"type": "LOGICAL_DNS"}',
]);

/** Envoy stops at its first mistake; what this build lacks is no mistake to it. */
function assertSaid(refusals: readonly Problem[], said: string | undefined, name: string): void {
  const isMeant = said === undefined || SAID_OTHERWISE.has(name);
  if (isMeant || refusals.some(({ rule }) => rule === 'unsupported')) return;
  const ours = refusals.flatMap(({ message, reference = '' }) => [message, reference]);
  const text = `expected: ${said}\nsaid: ${ours.join('\n')}`;
  assert.ok(
    ours.some((words) => words.startsWith(said)),
    text,
  );
}

describe('messages that are not complete', () => {
  for (const { name, verdict, said, bootstrap } of cases) {
    it(`${name.slice(0, 120)}: ${verdict}`, async () => {
      const outcome = await resolveConfig(bootstrap);
      const errors = 'problems' in outcome ? outcome.problems : [];
      const refusals = errors.filter(({ severity }) => severity === 'error');
      if (verdict === 'refused') {
        assert.notEqual(refusals.length, 0);
        assertSaid(refusals, said, name);
      } else {
        const unmeant = refusals.filter(
          ({ message, reference = '' }) => !REFUSED_HERE.test(message + reference),
        );
        assert.deepEqual(unmeant, []);
      }
    });
  }
});

/** A part of all users, always the same ones, by the hash of what names them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const TYPE = 'type.googleapis.com';
const scratch = makeScratch();

const typed = (name: string, type: string, fields: object): object => ({
  name,
  typed_config: { '@type': `${TYPE}/${type}`, ...fields },
});

const answer = (status: number): object => ({
  action: typed('route', 'envoy.config.route.v3.Route', {
    match: { prefix: '/' },
    direct_response: { status },
  }),
});

function hashing(fields: object): object {
  const predicate = {
    single_predicate: {
      input: typed('user', 'envoy.type.matcher.v3.HttpRequestHeaderMatchInput', {
        header_name: 'x-user',
      }),
      custom_match: typed(
        'part',
        'envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing',
        fields,
      ),
    },
  };
  const matcher = {
    matcher_list: { matchers: [{ predicate, on_match: answer(201) }] },
    on_no_match: answer(202),
  };
  const hcm = { route_config: { virtual_hosts: [{ name: 'v', domains: ['*'], matcher }] } };
  return bootstrap({ listeners: [httpListener([], { hcm })] });
}

/** As Envoy 1.40 chose with this seed. */
const CHOSEN = { ',a': 201, ',b': 202, ',c': 202, ',d': 201, ',h': 202, ',user-17': 201 };

describe('consistent hashing', () => {
  it('chooses the users that Envoy chooses, and nobody without a name', async () => {
    await using sluice = await startSluice({
      bootstrap: hashing({ threshold: 5, modulo: 10, seed: 12_345 }),
    });
    const port = await sluice.listenerPort('web');
    for (const [user, status] of Object.entries(CHOSEN)) {
      const response = await fetchOnce({ port, headers: { 'x-user': user } });
      assert.equal(response.status, status, user);
    }
    assert.equal((await fetchOnce({ port })).status, 202);
  });

  it('is refused where nobody could be chosen', async () => {
    const file = scratch.file('bootstrap.json');
    writeFileSync(file, JSON.stringify(hashing({ threshold: 9, modulo: 5 })));
    const { stderr, code } = await runSluice(['--mode', 'validate', '-c', file]);
    assert.equal(code, 1);
    assert.match(stderr, /threshold cannot be greater than modulo: 9 > 5/);
  });
});

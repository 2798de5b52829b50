/** `/config_history`: what a control plane changed while the program ran. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

interface Change {
  readonly id: number;
  readonly change: string;
  readonly kind: string;
  readonly name: string;
  readonly version?: string;
  readonly nonce?: string;
  readonly source?: string;
  readonly reason?: string;
  readonly diff: readonly string[];
}

interface History {
  readonly changes: readonly Change[];
  readonly last: number;
  readonly forgotten: number;
}

async function history(sluice: Sluice, query = ''): Promise<History> {
  const { status, body } = await sluice.admin(`/config_history?format=json&${query}`);
  assert.equal(status, 200, body);
  return JSON.parse(body) as History;
}

function cluster(name: string, timeout: string): object {
  return resource.cluster({ name, type: 'STATIC', connect_timeout: timeout });
}

test('each change says when, by whom, and what was different, each refusal why', async () => {
  await using control = await startControlPlane();
  control.set('cluster.v3.Cluster', 'c1', [cluster('one', '1s'), cluster('two', '1s')]);
  await using sluice = await startSluice({
    bootstrap: adsBootstrap(control.port, { apiType: 'GRPC', hasCds: true }),
  });
  const first = await waitUntil('the first answer', async () => {
    const seen = await history(sluice);
    return seen.changes.length >= 4 ? seen : undefined;
  });
  assert.deepEqual(
    first.changes
      .map(({ change, kind, name, version }) => [change, kind, name, version].join(' '))
      .toSorted((one, other) => (one < other ? -1 : 1)),
    [
      'accepted cluster one c1',
      'accepted cluster two c1',
      'warming cluster one c1',
      'warming cluster two c1',
    ],
  );
  control.set('cluster.v3.Cluster', 'c2', [cluster('one', '2s')]);
  const second = await waitUntil('the second answer', async () => {
    const seen = await history(sluice);
    return seen.changes.some(({ change }) => change === 'removed') ? seen : undefined;
  });
  const changed = second.changes.find(({ version, name }) => name === 'one' && version === 'c2');
  assert.deepEqual(changed?.diff, ['- connect_timeout: "1s"', '+ connect_timeout: "2s"']);
  assert.equal(changed.source, 'ads');
  await waitUntil('its acknowledgement', () =>
    control.requests.some(
      ({ version_info: version, response_nonce: nonce }) =>
        version === 'c2' && nonce === changed.nonce,
    ),
  );
  const across = await history(sluice, `diff=${first.last}..`);
  const diffs = new Map(across.changes.map(({ name, diff }) => [name, diff]));
  assert.deepEqual(diffs.get('one'), changed.diff);
  assert.ok(diffs.get('two')?.every((line) => line.startsWith('- ')));
  assert.deepEqual((await history(sluice, `diff=${second.last}..`)).changes, []);

  const bad = resource.cluster({ name: 'bad', type: 'EDS' });
  control.set('cluster.v3.Cluster', 'c3', [cluster('one', '2s'), bad]);
  const refused = await waitUntil('the refusal', async () =>
    (await history(sluice, 'kind=cluster&name=bad')).changes.find(
      ({ change }) => change === 'refused',
    ),
  );
  assert.match(refused.reason ?? '', /EDS/);
  const answer = (await history(sluice)).changes.find(({ change }) => change === 'answer_refused');
  assert.match(answer?.reason ?? '', /bad/);
  assert.equal(answer?.version, 'c3');
  const lines = (await sluice.admin('/config_history?name=one&limit=1')).body;
  assert.match(
    lines,
    /^\d+ \S+ accepted cluster one version=c2 nonce=\S+ source=ads\n {4}- connect_timeout: "1s"\n {4}\+ connect_timeout: "2s"\n$/,
  );
  for (const query of ['diff=1', 'kind=constructor', 'limit=0']) {
    assert.equal((await sluice.admin(`/config_history?${query}`)).status, 400, query);
  }
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

/** Does to each connection what the answer of a cluster says. */
const MODULE = `
import { defineNetworkFilter, object, string } from 'sluice/filter';

export default defineNetworkFilter({
  schema: object({ cluster: string() }),
  create({ cluster }, context) {
    return {
      async onConnection(connection) {
        const answer = await context.fetch(cluster, { path: '/verdict' });
        const verdict = answer.body.toString();
        if (verdict === 'throw') throw new Error('in the filter');
        if (verdict === 'later') await new Promise(() => undefined);
        connection.setMetadata('mine', 'verdict', verdict);
        connection.setFilterState('envoy.tcp_proxy.cluster', verdict === 'other' ? 'other' : 'up');
        if (verdict === 'no') connection.setDetails('mine_said_no');
        return verdict !== 'no';
      },
      onFirstBytes(connection) {
        if (connection.getMetadata('mine', 'verdict') === 'loop') for (;;);
      },
    };
  },
});
`;
const LOG_FORMAT = '%CONNECTION_TERMINATION_DETAILS% %DYNAMIC_METADATA(mine:verdict)%\n';

async function start(
  ports: Readonly<Record<'judge' | 'up' | 'other', number>>,
  fields: object = {},
): Promise<Sluice> {
  const scratch = makeScratch();
  const file = scratch.file('filter.ts');
  writeFileSync(file, MODULE);
  const type = 'type.googleapis.com/';
  const filters = [
    {
      name: 'mine',
      typed_config: {
        '@type': `${type}sluice.filters.network.script.v1.ScriptNetworkFilter`,
        file,
        settings: { cluster: 'judge' },
        stat_prefix: 'mine',
        ...fields,
      },
    },
    {
      name: 'tcp',
      typed_config: {
        '@type': `${type}envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy`,
        stat_prefix: 'tcp',
        cluster: 'up',
        access_log: [
          {
            name: 'file',
            typed_config: {
              '@type': `${type}envoy.extensions.access_loggers.file.v3.FileAccessLog`,
              path: scratch.file('access.log'),
              log_format: { text_format_source: { inline_string: LOG_FORMAT } },
            },
          },
        ],
      },
    },
  ];
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  const listeners = [{ name: 'web', address, filter_chains: [{ filters }] }];
  const clusters = Object.entries(ports).map(([name, port]) => staticCluster(name, [port]));
  return await startSluice({ bootstrap: bootstrap({ listeners, clusters }), scratch });
}

/** What a client gets whose connection is judged so. */
async function outcomes(sluice: Sluice, judge: { verdict: string }, verdicts: readonly string[]) {
  const port = await sluice.listenerPort('web');
  const found: string[] = [];
  for (const verdict of verdicts) {
    judge.verdict = verdict;
    found.push(
      await fetchOnce({ port }).then(
        ({ body }) => body,
        () => 'closed',
      ),
    );
  }
  return found;
}

describe('a network filter that is a module', () => {
  it('lets connections pass, refuses them, and names their cluster', async () => {
    const judged = { verdict: 'yes' };
    await using judge = await startHttpUpstream((_request, response) => {
      response.end(judged.verdict);
    });
    await using up = await startHttpUpstream((_request, response) => void response.end('up'));
    await using other = await startHttpUpstream((_request, response) => void response.end('other'));
    await using sluice = await start({ judge: judge.port, up: up.port, other: other.port });
    assert.deepEqual(await outcomes(sluice, judged, ['yes', 'other', 'no', 'throw']), [
      'up',
      'other',
      'closed',
      'closed',
    ]);
    await sluice.waitForStat('script.mine.passed', (count) => count === 2);
    await sluice.waitForStat('script.mine.refused', (count) => count === 1);
    await sluice.waitForStat('script.mine.errors', (count) => count === 1);
    await sluice.waitForStat('script.mine.failed', (count) => count === 1);
  });

  it('fails as it is told to: a promise without end, an exception', async () => {
    const judged = { verdict: 'yes' };
    await using judge = await startHttpUpstream((_request, response) => {
      response.end(judged.verdict);
    });
    await using up = await startHttpUpstream((_request, response) => void response.end('up'));
    const ports = { judge: judge.port, up: up.port, other: up.port };
    const fields = { decision_timeout: '0.05s', failure_mode_allow: true };
    await using sluice = await start(ports, fields);
    assert.deepEqual(await outcomes(sluice, judged, ['later', 'throw']), ['up', 'up']);
    await sluice.waitForStat('script.mine.timeouts', (count) => count === 1);
    await sluice.waitForStat('script.mine.failed', (count) => count === 2);
  });

  it('is not run any more after a loop', async () => {
    const judged = { verdict: 'yes' };
    await using judge = await startHttpUpstream((_request, response) => {
      response.end(judged.verdict);
    });
    await using up = await startHttpUpstream((_request, response) => void response.end('up'));
    const ports = { judge: judge.port, up: up.port, other: up.port };
    await using sluice = await start(ports, { loop_timeout: '0.2s' });
    assert.deepEqual(await outcomes(sluice, judged, ['loop']), ['closed']);
    await sluice.waitForStat('script.mine.disabled', (workers) => workers >= 1);
    assert.deepEqual(await outcomes(sluice, judged, ['yes']), ['closed']);
  });
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';

/** Takes the host whose number a header names; a path may be a fault. */
const MODULE = `
import { defineBalancer, number, object, type BalancedHost } from 'sluice/filter';

export default defineBalancer({
  schema: object({ step: number() }),
  create({ step }, context) {
    const seen = context.gauge('hosts');
    let first: BalancedHost | undefined;
    return {
      onHosts(hosts) {
        seen.set(hosts.length);
        first ??= hosts[0];
      },
      pick(request, hosts) {
        switch (request.path) {
          case '/throw': throw new Error('in the balancer');
          case '/nobody': return { ...hosts[0]! };
          case '/gone': return first;
          case '/loop': for (;;);
          case '/draw': return hosts[request.draw];
        }
        const number = request.headers.get('x-host');
        if (number === undefined) return undefined;
        const named = hosts.filter(({ health }) => health === 'healthy');
        return named[(Number(number) * step) % named.length];
      },
    };
  },
});
`;

const TYPE = 'type.googleapis.com/sluice.load_balancing_policies.script.v1.ScriptBalancer';

function policy(file: string, fields: object = {}): object {
  const typed_config = { '@type': TYPE, file, settings: { step: 1 }, ...fields };
  return { policies: [{ typed_extension_config: { name: 'mine', typed_config } }] };
}

function configuration(lbPolicy: object, ports: readonly number[]): object {
  const route = {
    cluster: 'up',
    retry_policy: {
      retry_on: '5xx',
      retry_host_predicate: [
        {
          name: 'previous',
          typed_config: {
            '@type':
              'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
          },
        },
      ],
      host_selection_retry_max_attempts: 1,
    },
  };
  return bootstrap({
    listeners: [httpListener([{ match: { prefix: '/' }, route }])],
    clusters: [{ ...staticCluster('up', ports), load_balancing_policy: lbPolicy }],
  });
}

async function start(
  ports: readonly number[],
  fields: object = {},
): Promise<Sluice & { readonly scratch: Scratch }> {
  const scratch = makeScratch();
  const file = scratch.file('balancer.ts');
  writeFileSync(file, MODULE);
  const sluice = await startSluice({
    bootstrap: configuration(policy(file, fields), ports),
    scratch,
  });
  return Object.assign(sluice, { scratch });
}

async function answerers(
  sluice: Sluice,
  path: string,
  headers: Readonly<Record<string, string>>,
  count = 4,
): Promise<readonly string[]> {
  const port = await sluice.listenerPort('web');
  const bodies: string[] = [];
  for (let left = count; left > 0; left -= 1) {
    bodies.push((await fetchOnce({ port, path, headers })).body);
  }
  return bodies;
}

describe('a load balancer that is a module', () => {
  it('chooses hosts by the request; the fallback policy chooses where it does not', async () => {
    await using a = await startHttpUpstream((_request, response) => void response.end('a'));
    await using b = await startHttpUpstream((_request, response) => void response.end('b'));
    await using sluice = await start([a.port, b.port]);
    assert.deepEqual(await answerers(sluice, '/', { 'x-host': '0' }), ['a', 'a', 'a', 'a']);
    assert.deepEqual(await answerers(sluice, '/', { 'x-host': '3' }), ['b', 'b', 'b', 'b']);
    assert.deepEqual((await answerers(sluice, '/', {})).toSorted(), ['a', 'a', 'b', 'b']);
    for (const path of ['/throw', '/nobody']) {
      assert.deepEqual((await answerers(sluice, path, {})).toSorted(), ['a', 'a', 'b', 'b']);
    }
    await sluice.waitForStat('cluster.up.script.errors', (errors) => errors === 8);
    await sluice.waitForStat('cluster.up.script.picks', (picks) => picks === 8);
    await sluice.waitForStat('cluster.up.script.fallbacks', (fallbacks) => fallbacks === 12);
    await sluice.waitForStat('cluster.up.script.hosts', (hosts) => hosts === 2);
  });

  it('is asked again where a retry would rather have another host', async () => {
    await using a = await startHttpUpstream((_request, response) => {
      response.writeHead(500).end('a');
    });
    await using b = await startHttpUpstream((_request, response) => void response.end('b'));
    await using sluice = await start([a.port, b.port]);
    assert.deepEqual(await answerers(sluice, '/draw', {}, 2), ['b', 'b']);
  });

  it('is not run any more after a loop, and the fallback policy chooses', async () => {
    await using a = await startHttpUpstream((_request, response) => void response.end('a'));
    await using sluice = await start([a.port], { loop_timeout: '0.2s' });
    const port = await sluice.listenerPort('web');
    await assert.rejects(fetchOnce({ port, path: '/loop' }));
    await sluice.waitForStat('cluster.up.script.disabled', (workers) => workers >= 1);
    assert.deepEqual(await answerers(sluice, '/loop', {}, 2), ['a', 'a']);
  });

  it('is another after a reload', async () => {
    await using a = await startHttpUpstream((_request, response) => void response.end('a'));
    await using b = await startHttpUpstream((_request, response) => void response.end('b'));
    await using sluice = await start([a.port, b.port]);
    assert.deepEqual(await answerers(sluice, '/', { 'x-host': '0' }, 2), ['a', 'a']);
    const text = MODULE.replace('Number(number) * step', 'Number(number) * step + 1');
    writeFileSync(sluice.scratch.file('balancer.ts'), text);
    const { status } = await sluice.admin({ path: '/filters/reload', method: 'POST' });
    assert.equal(status, 200);
    assert.deepEqual(await answerers(sluice, '/', { 'x-host': '0' }, 2), ['b', 'b']);
  });

  it('is refused with the place of a mistake, and behind another policy', async () => {
    const scratch = makeScratch();
    const file = scratch.file('balancer.ts');
    writeFileSync(file, MODULE);
    const check = async (lbPolicy: object): Promise<string> => {
      const config = scratch.file('bootstrap.json');
      writeFileSync(config, JSON.stringify(configuration(lbPolicy, [1])));
      const { stderr, code } = await runSluice(['--mode', 'validate', '-c', config]);
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(await check(policy(file, { settings: { step: 'x' } })), /settings\.step/);
    const subset = {
      '@type': 'type.googleapis.com/envoy.extensions.load_balancing_policies.subset.v3.Subset',
      subset_lb_policy: policy(file),
    };
    const typed = { name: 'subset', typed_config: subset };
    const behind = await check({ policies: [{ typed_extension_config: typed }] });
    assert.match(behind, /a module behind another policy is not supported/);
    writeFileSync(file, `export default {};`);
    assert.match(await check(policy(file)), /balancer\.ts.*not made by defineBalancer\(\)/s);
  });
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, it } from 'node:test';

import { bootstrap, GREETING, httpListener, proxyTo } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const STDOUT = 'type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog';
const LINE = 'line %CONNECTION_ID% %UPSTREAM_CONNECTION_ID% %REQ(:PATH)%\n';

const log = {
  name: 'stdout',
  typed_config: {
    '@type': STDOUT,
    log_format: { text_format_source: { inline_string: LINE } },
  },
};

async function startProxy(port: number, env: Record<string, string> = {}): Promise<Sluice> {
  return await startSluice({
    bootstrap: proxyTo(port, { hcm: { access_log: [log] } }),
    env,
  });
}

/** Makes every connection that the worker's own client opens do something else. */
function withConnections(behaviour: string): Record<string, string> {
  const code =
    "import net from 'node:net'; if (process.argv.some((word) => word.startsWith('--worker='))) " +
    `net.Socket.prototype.connect = function () { ${behaviour} };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

function workerOf({ pid }: Sluice): number {
  return Number(execFileSync('pgrep', ['-P', String(pid), '-f', 'worker'], { encoding: 'utf8' }));
}

/** Names in the kernel's table of unix sockets that this process holds. */
function unixSocketsOf(pid: number): readonly string[] {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return []; // closed between the listing and the reading
    }
  });
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return inodes.flatMap((inode) => lines.filter((line) => line.split(/\s+/)[6] === inode));
}

describe('the warm-up of a worker', () => {
  it('is seen in no statistic, page, log, socket or connection number', async () => {
    await using upstream = await startHttpUpstream();
    await using sluice = await startProxy(upstream.port);
    const traffic = /^(?:http|listener|cluster)\..*(?:_cx|_rq)_(?:total|active|\w+_total): [1-9]/m;
    const stats = await sluice.stats('');
    const own = stats
      .split('\n')
      .filter((line) => !/admin/.test(line))
      .join('\n');
    assert.doesNotMatch(own, traffic);
    for (const page of [stats, ...(await pagesOf(sluice))]) {
      assert.doesNotMatch(page, /\b(?:front|back)\b|warm-up/);
    }
    assert.deepEqual(
      unixSocketsOf(workerOf(sluice)).filter((line) => line.includes('warm-up')),
      [],
    );
    assert.equal(sluice.stdout(), '');
    assert.doesNotMatch(sluice.stderr(), /\bfront\b|warm-up/);

    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/first' })).status, 200);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_total'), 1);
    assert.equal(await sluice.stat('http.web.downstream_rq_total'), 1);
    await waitUntil('the line of the request', () => sluice.stdout().includes('/first'));
    assert.equal(sluice.stdout(), 'line 1 1 /first\n');
  });

  it('does not hold up a worker when it fails or never ends', async () => {
    await using upstream = await startHttpUpstream();
    const behaviours = ["throw new Error('no connections')", 'return this'];
    for (const behaviour of behaviours) {
      await using sluice = await startProxy(upstream.port, withConnections(behaviour));
      const port = await sluice.listenerPort('web');
      assert.equal((await fetchOnce({ port, path: '/served' })).status, 200, behaviour);
    }
  });

  it('can be switched off', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }),
      env: {
        ...withConnections("process.stdout.write('connected'); return this"),
        SLUICE_WORKER_WARM_UP: 'off',
      },
    });
    await sluice.settled();
    assert.equal(sluice.stdout(), '');
  });
});

async function pagesOf(sluice: Sluice): Promise<readonly string[]> {
  const paths = ['/clusters', '/listeners', '/config_dump', '/stats/prometheus'];
  return await Promise.all(paths.map(async (path) => (await sluice.admin(path)).body));
}

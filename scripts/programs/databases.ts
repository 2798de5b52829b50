/** Database sessions through the TCP proxy. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, existsSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { bootstrap, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { check, passed, runProgram, type Trial, type TrialOutcome } from './trial.ts';

const VERSIONS = '/usr/lib/postgresql';
/** Debian's `nobody`: the server refuses to run as root. */
const NOBODY = 65_534;

export const databases: readonly Trial[] = [
  { name: 'PostgreSQL through tcp_proxy', run: postgres },
];

async function postgres(): Promise<TrialOutcome> {
  const binaries = existsSync(VERSIONS)
    ? readdirSync(VERSIONS).map((version) => join(VERSIONS, version, 'bin'))
    : [];
  const bin = binaries.find((folder) => existsSync(join(folder, 'initdb')));
  if (bin === undefined) return { result: 'left out', detail: 'PostgreSQL is not installed' };
  using scratch = makeScratch();
  const data = scratch.file('data');
  mkdirSync(data);
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) for (const path of [scratch.path, data]) chownSync(path, NOBODY, NOBODY);
  const env = { ...process.env, HOME: scratch.path };
  await runProgram(join(bin, 'initdb'), ['-D', data, '-U', 'sluice', '-A', 'trust', '--no-sync'], {
    ...identity,
    env,
  });
  const port = await freePort();
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', scratch.path, '-F'];
  const server = spawn(join(bin, 'postgres'), args, { ...identity, env, stdio: 'ignore' });
  try {
    await using sluice = await startSluice({ bootstrap: tcpProxyTo(port) });
    const own = await sluice.listenerPort('db');
    const psql = async (...rest: readonly string[]): Promise<string> =>
      runProgram('psql', [
        '-h',
        '127.0.0.1',
        '-p',
        String(own),
        '-U',
        'sluice',
        '-d',
        'postgres',
        '-qAt',
        ...rest,
      ]);
    await waitUntil(
      'the database',
      async () => (await psql('-c', 'select 1').catch(() => '')) === '1\n',
      30_000,
    );
    await psql(
      '-c',
      'create table t as select g, repeat(md5(g::text), 100) as v from generate_series(1, 20000) g',
    );
    const sum = await psql('-c', 'select count(*), sum(length(v)) from t');
    const rows = await psql('-c', 'select * from t');
    check(sum === '20000|64000000\n', sum);
    check(rows.split('\n').length === 20_001, `${rows.split('\n').length} rows`);
    return passed('a session with 20,000 rows of 3,200 bytes (64 MB) read back whole');
  } finally {
    server.kill('SIGINT');
    await new Promise((resolve) => server.once('exit', resolve));
  }
}

function tcpProxyTo(port: number): object {
  const filter = {
    name: 'envoy.filters.network.tcp_proxy',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
      stat_prefix: 'db',
      cluster: 'up',
    },
  };
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  return bootstrap({
    listeners: [{ name: 'db', address, filter_chains: [{ filters: [filter] }] }],
    clusters: [staticCluster('up', [port])],
  });
}

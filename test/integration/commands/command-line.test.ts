import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, renameSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { ADMIN, runSluice, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const projectRoot = join(import.meta.dirname, '..', '..', '..', '..');

describe('the command line', () => {
  it('prints versions and help and exits with 0', async () => {
    const [version, help, hotRestart] = await Promise.all([
      runSluice(['--version']),
      runSluice(['--help']),
      runSluice(['--hot-restart-version', '--disable-hot-restart']),
    ]);
    assert.match(version.stdout, /^\nsluice {2}version: \w+\/\d+\.\d+\.\d+(-dev)?\/\w+\/RELEASE/);
    assert.match(help.stdout, /^\nUSAGE: \n/);
    assert.equal(hotRestart.stderr, 'disabled');
    assert.deepEqual([version.code, help.code, hotRestart.code], [0, 0, 0]);
  });

  it('states the version of Envoy that the environment asks for, and nothing that is none', async () => {
    const asked = (value: string): ReturnType<typeof runSluice> =>
      runSluice(['--version'], undefined, { SLUICE_ENVOY_VERSION: value });
    const [stated, ...others] = await Promise.all(['1.34.2', '1.34.2-dev', '1.34', ''].map(asked));
    // Consul takes the first three numbers with dots.
    assert.equal(/\d+\.\d+\.\d+/.exec(stated?.stdout ?? '')?.[0], '1.34.2');
    assert.match(stated?.stdout ?? '', /version:\s+[0-9a-z]+\/1\.34\.2\/\w+\/RELEASE\/\w+/);
    for (const { code, stderr } of others) {
      assert.equal(code, 1);
      assert.match(stderr, /^error: SLUICE_ENVOY_VERSION is not a version such as/);
    }
  });

  it('is refused on standard error with exit code 1', async () => {
    const [unknown, mode] = await Promise.all([
      runSluice(['--nosuch']),
      runSluice(['--mode', 'dance']),
    ]);
    assert.match(unknown.stderr, /^PARSE ERROR: Argument: --nosuch\n {13}Couldn't find match/);
    assert.match(mode.stderr, /^error: unknown mode 'dance'\n/);
    assert.deepEqual([unknown.code, mode.code], [1, 1]);
  });

  it('initialises and exits with --mode init_only, whether that succeeds in the exit code', async () => {
    const initialise = (yaml: string) =>
      runSluice(['--mode', 'init_only', '--disable-hot-restart', '--config-yaml', yaml]);
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const admin = (value: number) =>
      `admin: {address: {socket_address: {address: 127.0.0.1, port_value: ${value}}}}`;
    const [good, busy] = await Promise.all([initialise(admin(0)), initialise(admin(port))]);
    assert.match(good.stderr, /admin address: 127\.0\.0\.1:\d+\n.*\] exiting\n$/);
    assert.doesNotMatch(good.stderr, /starting workers|main dispatch loop/);
    assert.match(busy.stderr, /cannot bind '127\.0\.0\.1:\d+': Address already in use/);
    assert.deepEqual([good.code, busy.code], [0, 1]);
  });

  it('names the log file that cannot be opened', async () => {
    const { code, stderr } = await runSluice(['--config-yaml', '{}', '--log-path', '/no/such/log']);
    assert.equal(code, 1);
    assert.match(stderr, /^cannot open log file '\/no\/such\/log': .*\n$/);
  });
});

describe('a running server', () => {
  it('reports its options at /server_info', async () => {
    const args = [
      '--service-zone',
      'z',
      '--drain-time-s',
      '30',
      '--stats-tag',
      'a:b',
      '-l',
      'warn',
    ];
    await using sluice = await startSluice({ bootstrap: { admin: ADMIN }, args });
    const { body } = await sluice.admin('/server_info');
    const { command_line_options: options } = JSON.parse(body) as {
      command_line_options: Record<string, unknown>;
    };
    assert.equal(options['service_zone'], 'z');
    assert.equal(options['drain_time'], '30s');
    assert.deepEqual(options['stats_tag'], ['a:b']);
    assert.equal(options['log_level'], 'warning');
    assert.equal(options['concurrency'], 1);
    assert.equal(options['mode'], 'Serve');
  });

  it('logs the source line that wrote each line, and follows rotation on SIGUSR1', async () => {
    const format = '%P|%l|%n|%g:%#|%v';
    await using sluice = await startSluice({
      bootstrap: { admin: ADMIN },
      args: ['--log-path', 'app.log', '--log-format', format, '-l', 'debug'],
    });
    const path = sluice.scratch.file('app.log');
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    assert.ok(lines.length > 0);
    for (const line of lines) {
      const [, , , place = ''] = line.split('|');
      const [file = '', number = ''] = place.split(':');
      const source = readFileSync(join(projectRoot, file), 'utf8').split('\n')[Number(number) - 1];
      assert.match(source ?? '', /log|warn|info|debug|trace|error/i, line);
    }
    renameSync(path, `${path}.1`);
    sluice.signal('SIGUSR1');
    await waitUntil('the new log file', () => {
      try {
        return readFileSync(path) !== undefined;
      } catch {
        return false;
      }
    });
    assert.equal((await sluice.admin('/ready')).status, 200);
  });

  it('lives on when nobody reads its standard error any more', async () => {
    await using sluice = await startSluice({ bootstrap: { admin: ADMIN }, args: ['-l', 'trace'] });
    sluice.process.stderr?.destroy();
    for (const level of ['info', 'trace']) {
      await sluice.admin({ method: 'POST', path: `/logging?level=${level}` });
    }
    assert.equal((await sluice.admin('/ready')).status, 200);
    assert.deepEqual(await sluice.stop(), { code: 0, signal: null });
  });
});

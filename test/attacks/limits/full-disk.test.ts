/**
 * A disk without room under the access logs, the admin's log, taps and profiles: requests are
 * answered all the same, what is lost is counted, and once there is room whole lines follow. Skipped
 * where no file system may be mounted.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const DISK_KIB = 64;
/** The size of each request's line; a few dozen fill the disk. */
const PATH_BYTES = 2000;
const REQUESTS = attackRuns(60, 5000);
const API = 'type.googleapis.com/envoy.extensions';

/** Undefined where it is not allowed. */
function mountDisk(at: string): Disposable | undefined {
  mkdirSync(at);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_KIB}k`, 'none', at], {
      stdio: 'pipe',
    });
  } catch {
    return undefined;
  }
  return { [Symbol.dispose]: () => void execFileSync('umount', ['-l', at]) };
}

function fileLog(path: string): object {
  return {
    name: 'file',
    typed_config: {
      '@type': `${API}.access_loggers.file.v3.FileAccessLog`,
      path,
      log_format: { text_format_source: { inline_string: '%REQ(:PATH)% end\n' } },
    },
  };
}

function tapTo(path: string): object {
  return {
    name: 'tap',
    typed_config: {
      '@type': `${API}.filters.http.tap.v3.Tap`,
      common_config: {
        static_config: {
          match: { any_match: true },
          output_config: {
            sinks: [{ format: 'JSON_BODY_AS_BYTES', file_per_tap: { path_prefix: path } }],
          },
        },
      },
    },
  };
}

it('serves on a full disk, and writes whole lines when there is room again', async (test) => {
  using scratch = makeScratch();
  const disk = join(scratch.path, 'disk');
  using mounted = mountDisk(disk);
  if (mounted === undefined) return test.skip('no file system may be mounted');
  const on = (name: string): string => join(disk, name);
  const router = {
    name: 'router',
    typed_config: { '@type': `${API}.filters.http.router.v3.Router` },
  };
  const answer = { match: { prefix: '/' }, direct_response: { status: 200 } };
  const hcm = { access_log: [fileLog(on('access.log'))], http_filters: [tapTo(on('tap')), router] };
  await using sluice = await startSluice({
    args: ['--file-flush-interval-msec', '200'],
    bootstrap: bootstrap(
      { listeners: [httpListener([answer], { hcm })] },
      { admin: { ...ADMIN, access_log: [fileLog(on('admin.log'))], profile_path: on('profile') } },
    ),
  });
  const port = await sluice.listenerPort('web');
  const workers = childrenOf(sluice.pid);
  const ask = async (path: string): Promise<void> =>
    assert.equal((await fetchOnce({ port, path })).status, 200);

  for (let request = 0; request < REQUESTS; request++) {
    await ask(`/${request}${'x'.repeat(PATH_BYTES)}`);
    if (request % 50 !== 40) continue;
    assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
    await sluice.admin({ method: 'POST', path: '/cpuprofiler?enable=y' });
    await sluice.admin({ method: 'POST', path: '/cpuprofiler?enable=n' });
  }
  const failed = async (): Promise<boolean> => (await sluice.stat('filesystem.write_failed')) > 0;
  await waitUntil('writes that fail are counted', failed);
  writeFileSync(on('rest'), Buffer.alloc(0));
  assert.throws(() => writeFileSync(on('rest'), Buffer.alloc(4 * DISK_KIB * 1024)), /ENOSPC/);

  const before = readFileSync(on('access.log'), 'latin1');
  execFileSync('mount', ['-o', `remount,size=${64 * 1024}k`, disk]);
  rmSync(on('rest'));
  await ask('/last');
  const log = (): string => readFileSync(on('access.log'), 'latin1');
  await waitUntil('the last line', () => log().endsWith('/last end\n'));
  assert.ok(log().startsWith(before));
  for (const line of log().split('\n').slice(0, -1))
    assert.match(line, /^\/(\d+x{2000}|last) end$/);
  assert.deepEqual(childrenOf(sluice.pid), workers);
  assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
});

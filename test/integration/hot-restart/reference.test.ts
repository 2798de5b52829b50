/**
 * Sluice takes over from Envoy, and Envoy from Sluice, while clients go on asking:
 * with the commands of docs/migrate.md, as they stand there.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freePort, makeEpochs, okBootstrap, type Epochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeListenerKinds } from '../../support/parts/listener-kinds.ts';
import { startLoad, type LoadTarget } from '../../support/peers/load.ts';
import { MAIN } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const isInstalled = spawnSync('envoy', ['--version']).status === 0;
const skip = isInstalled ? false : 'no envoy is installed here';
const GUIDE = join(import.meta.dirname, '../../../../docs/migrate.md');

describe('docs/migrate.md', { skip }, () => {
  it('checks the bootstrap before anything is touched', async () => {
    await using epochs = await makeEpochs();
    writeBootstrap(epochs, okBootstrap(epochs.port, epochs.adminPort));
    const words = /`sluice (--mode validate -c envoy.yaml)`/.exec(readFileSync(GUIDE, 'utf8'))?.[1];
    assert.ok(words !== undefined);
    const { status } = spawnSync(process.execPath, [MAIN, ...words.split(' ')], {
      cwd: epochs.scratch.path,
    });
    assert.equal(status, 0);
  });

  it('loses nothing there and back again on plain, unix, TLS and TCP proxy listeners, with and without reuse_port', async () => {
    await using epochs = await makeEpochs();
    const kinds = await makeListenerKinds({
      folder: epochs.scratch.path,
      ports: [epochs.port, await freePort(), await freePort()],
      adminPort: epochs.adminPort,
      sharedPort: await freePort(),
    });
    try {
      writeBootstrap(epochs, kinds.bootstrap);
      await migrate(
        epochs,
        kinds.targets.map((target) => ({ ...target, restMs: 8 })),
      );
    } finally {
      kinds.close();
    }
  });
});

/** Runs every command of the guide, each when the one before is live. */
async function migrate(epochs: Epochs, targets: readonly LoadTarget[]): Promise<void> {
  const commands = guideCommands();
  assert.deepEqual(
    commands.map(([program]) => program),
    ['envoy', 'sluice', 'envoy'],
  );
  const running: ChildProcess[] = [];
  try {
    running.push(await startCommand(epochs, commands[0] ?? [], 0));
    const load = startLoad(...targets);
    for (const epoch of [1, 2]) {
      running.push(await startCommand(epochs, commands[epoch] ?? [], epoch));
      const before = running[epoch - 1];
      if (before !== undefined && before.exitCode === null) await once(before, 'exit');
      assert.equal(before?.exitCode, 0);
      await waitUntil(`generation ${epoch + 1}`, async () => {
        return (await stat(epochs, 'server.hot_restart_generation')) === epoch + 1;
      });
    }
    const { failures, finishedByTarget } = await load.stop();
    assert.deepEqual(failures, []);
    assert.ok(finishedByTarget.every((finished) => finished > 50));
  } finally {
    for (const child of running) child.kill('SIGKILL');
  }
}

/** The indented lines that start a server, as words. */
function guideCommands(): readonly (readonly string[])[] {
  return readFileSync(GUIDE, 'utf8')
    .split('\n')
    .filter((line) => /^ {4}(envoy|sluice) /.test(line))
    .map((line) => line.trim().split(' '));
}

/** The guide's words with the base id of this test, and times that are short enough for one. */
async function startCommand(
  epochs: Epochs,
  [program, ...words]: readonly string[],
  epoch: number,
): Promise<ChildProcess> {
  const baseId = words.indexOf('--base-id') + 1;
  const own = words.map((word, index) => (index === baseId ? String(epochs.baseId) : word));
  const times = ['--drain-time-s', '1', '--parent-shutdown-time-s', '2'];
  // A different number of workers each time.
  const more = ['--concurrency', String(epoch + 1), '-l', 'off'];
  const [command, ...before] = program === 'sluice' ? [process.execPath, MAIN] : ['envoy'];
  const child = spawn(command ?? '', [...before, ...own, ...times, ...more], {
    stdio: 'ignore',
    cwd: epochs.scratch.path,
  });
  await waitUntil(`epoch ${epoch}`, () => isLive(epochs, epoch), 60_000);
  return child;
}

/** JSON is YAML, too. */
function writeBootstrap(epochs: Epochs, message: object): void {
  writeFileSync(epochs.scratch.file('envoy.yaml'), JSON.stringify(message));
}

async function isLive(epochs: Epochs, epoch: number): Promise<boolean> {
  const ask = { port: epochs.adminPort, path: '/server_info' };
  const answer = await fetchOnce(ask).catch(() => undefined);
  if (answer?.status !== 200) return false;
  const info = JSON.parse(answer.body) as {
    readonly state: string;
    readonly command_line_options: { readonly restart_epoch: number };
  };
  return info.state === 'LIVE' && info.command_line_options.restart_epoch === epoch;
}

async function stat(epochs: Epochs, name: string): Promise<number> {
  const ask = { port: epochs.adminPort, path: `/stats?filter=^${name}$` };
  const answer = await fetchOnce(ask).catch(() => undefined);
  return Number(answer?.body.split(': ')[1] ?? 0);
}

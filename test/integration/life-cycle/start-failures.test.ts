/** A server that cannot start says why in one entry, ends with code 1 and leaves nothing behind. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { runSluice } from '../../support/programs/sluice.ts';

const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];

describe('a server that cannot start', () => {
  let scratch: Scratch;
  let takenPort: number;
  const taken = createServer();

  before(async () => {
    scratch = makeScratch();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(typeof address === 'object' && address !== null);
    takenPort = address.port;
  });
  after(() => {
    taken.close();
    scratch[Symbol.dispose]();
  });

  /** Runs with a bootstrap and further words; returns code and standard error. */
  const run = async (
    config: object,
    ...words: readonly string[]
  ): Promise<{ readonly code: number | null; readonly stderr: string }> => {
    const path = scratch.file(`bootstrap-${process.hrtime.bigint()}.json`);
    writeFileSync(path, JSON.stringify(config));
    return await runSluice(['-c', path, '--disable-hot-restart', '-l', 'error', ...words]);
  };

  const socketAddress = (port: number, address = '127.0.0.1'): object => ({
    address: { socket_address: { address, port_value: port } },
  });
  const oneListener = (fields: object): object =>
    bootstrap({ listeners: [httpListener(routes, { listener: fields })] });

  it('names the listener’s address that is in use', async () => {
    const { code, stderr } = await run(oneListener(socketAddress(takenPort)));
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`cannot bind '127.0.0.1:${takenPort}': Address already in use`),
    );
    assert.equal(entries(stderr), 1);
  });

  it('names the listener’s address that this machine does not have', async () => {
    const { code, stderr } = await run(oneListener(socketAddress(0, '192.0.2.1')));
    assert.equal(code, 1);
    assert.match(stderr, /cannot bind '192\.0\.2\.1:0': Cannot assign requested address/);
    assert.equal(entries(stderr), 1);
  });

  it('names the path that cannot be bound', async () => {
    const path = '/nonexistent/x.sock';
    const { code, stderr } = await run(oneListener({ address: { pipe: { path } } }));
    assert.equal(code, 1);
    assert.match(stderr, /cannot bind '\/nonexistent\/x\.sock': No such file or directory/);
    assert.equal(entries(stderr), 1);
  });

  it('names the admin address that is in use', async () => {
    const { code, stderr } = await run(bootstrap({}, { admin: socketAddress(takenPort) }));
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`cannot bind '127.0.0.1:${takenPort}': Address already in use`),
    );
    assert.equal(entries(stderr), 1);
  });

  it('names the configuration file that is missing or unreadable', async () => {
    const missing = await runSluice(['-c', '/nonexistent.yaml', '--disable-hot-restart']);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /\/nonexistent\.yaml/);
    const folder = await runSluice(['-c', scratch.path, '--disable-hot-restart']);
    assert.equal(folder.code, 1);
    assert.match(folder.stderr, new RegExp(scratch.path));
  });

  it('names the log file that cannot be opened', async () => {
    const { code, stderr } = await run(bootstrap({}), '--log-path', '/nonexistent/sluice.log');
    assert.equal(code, 1);
    assert.match(stderr, /\/nonexistent\/sluice\.log/);
    assert.equal(entries(stderr), 1);
  });

  it('says it on standard error even when the log is off or a file', async () => {
    const config = oneListener(socketAddress(takenPort));
    const log = scratch.file('server.log');
    for (const words of [
      ['-l', 'off'],
      ['-l', 'error', '--log-path', log],
    ]) {
      const path = scratch.file('quiet.json');
      writeFileSync(path, JSON.stringify(config));
      const { code, stderr } = await runSluice(['-c', path, '--disable-hot-restart', ...words]);
      assert.equal(code, 1);
      assert.equal(stderr, `cannot bind '127.0.0.1:${takenPort}': Address already in use\n`);
    }
    assert.ok(existsSync(log));
  });

  it('leaves no socket file and no address file behind', async () => {
    const path = scratch.file('kept.sock');
    const config = bootstrap({
      listeners: [
        httpListener(routes, { name: 'good', listener: { address: { pipe: { path } } } }),
        httpListener(routes, { name: 'bad', listener: socketAddress(takenPort) }),
      ],
    });
    const { code } = await run(config);
    assert.equal(code, 1);
    assert.equal(existsSync(path), false);
  });
});

/** How many entries of the log, or bare lines, a text has. */
function entries(text: string): number {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '').length;
}

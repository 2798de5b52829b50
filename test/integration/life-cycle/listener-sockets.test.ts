import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { makeScratch } from '../../support/scratch.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { openRaw } from '../../support/peers/raw-client.ts';

const SOL_SOCKET = '1';
const SO_RCVBUF = '8';

function listenerWith(fields: object): object {
  return { ...httpListener(GREETING), ...fields };
}

const HAS_SS = spawnSync('ss', ['-V']).status === 0;

describe('the sockets of a listener', () => {
  it('are set up with the options of the configuration in every state', async () => {
    const states = ['STATE_PREBIND', 'STATE_BOUND', 'STATE_LISTENING'];
    const options = states.map((state) => ({
      level: SOL_SOCKET,
      name: SO_RCVBUF,
      int_value: '65536',
      state,
    }));
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          listenerWith({ socket_options: options, freebind: true, tcp_fast_open_queue_length: 4 }),
        ],
      }),
    });
    const raw = await openRaw(await sluice.listenerPort('web'));
    raw.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    assert.match(await raw.until('hi'), /^HTTP\/1\.1 200 /);
    raw.destroy();
  });

  it('end the start with the numbers of an option that the kernel refuses', async () => {
    using scratch = makeScratch();
    const path = scratch.file('bootstrap.json');
    const option = { level: SOL_SOCKET, name: '9999', int_value: '1', state: 'STATE_BOUND' };
    const config = bootstrap({ listeners: [listenerWith({ socket_options: [option] })] });
    writeFileSync(path, JSON.stringify(config));
    const { code, stderr } = await runSluice(['-c', path, '--disable-hot-restart']);
    assert.equal(code, 1);
    assert.match(stderr, /setting socket option 1\/9999 failed: Protocol not available/);
  });

  it('may be of an address that this machine does not have', async () => {
    const address = { socket_address: { address: '203.0.113.5', port_value: 0 } };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listenerWith({ freebind: true, address })] }),
    });
    assert.match((await sluice.admin('/listeners')).body, /web::203\.0\.113\.5:\d+\n/);
  });

  it(
    'keep the backlog of the configuration once workers listen on them',
    { skip: HAS_SS ? false : 'the program ss is not here' },
    async () => {
      await using sluice = await startSluice({
        bootstrap: bootstrap({ listeners: [listenerWith({ tcp_backlog_size: 7 })] }),
        concurrency: 2,
      });
      const port = await sluice.listenerPort('web');
      const { stdout } = spawnSync('ss', ['-ltnH', `sport = :${port}`], { encoding: 'utf8' });
      const backlogs = stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/)[2]);
      assert.deepEqual(backlogs, ['7', '7']);
    },
  );

  it('are not there for a listener that binds nothing', async () => {
    const address = { socket_address: { address: '127.0.0.1', port_value: 9 } };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listenerWith({ bind_to_port: false, address })] }),
    });
    assert.match((await sluice.admin('/listeners')).body, /web::127\.0\.0\.1:9\n/);
    const listening = readFileSync('/proc/net/tcp', 'latin1').split('\n');
    assert.ok(!listening.some((line) => / 0100007F:0009 00000000:0000 0A /.test(line)));
  });
});

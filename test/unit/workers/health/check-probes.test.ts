import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import type { HealthCheckResource } from '../../../../shared/resources/clusters/health-check.ts';
import type { Probe, ProbeOutcome } from '../../../../workers/health/probe.ts';
import { ProbeMaker } from '../../../../workers/health/probe-maker.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';
import { TCP_CHECK } from '../../../support/parts/health-checks.ts';

const PLAIN = { tls: undefined, proxyProtocol: undefined, handedOn: undefined, taps: undefined };
const OVER_HTTP = {
  kind: 'http',
  isHttp2: false,
  path: '/hc',
  method: 'GET',
  headers: { add: [], remove: [] },
  expectedStatuses: [{ from: 200, to: 201 }],
  retriableStatuses: [],
  receiveBytesMax: 1024,
} as const;

let server: Server | undefined;
/** Told by checks of Redis. */
let keysFound = 0;

afterEach(() => server?.close());

type Answer = (socket: Socket, text: string) => void;

/** Asks a host that answers so; the caller has to cancel. */
async function start(
  check: Pick<HealthCheckResource, 'probe' | 'reuseConnection'>,
  answer: Answer,
): Promise<{ readonly probe: Probe; readonly received: () => string; readonly port: number }> {
  let received = '';
  const started = createServer((socket) => {
    socket.on('data', (data) => {
      received += data.toString('latin1');
      answer(socket, received);
    });
  });
  server = started;
  await new Promise<void>((resolve) => {
    started.listen(0, '127.0.0.1', resolve);
  });
  const { port } = started.address() as AddressInfo;
  const made = new ProbeMaker({
    check: { ...TCP_CHECK, ...check },
    ways: {
      resource: cluster('c'),
      sockets: { of: () => PLAIN, matching: () => PLAIN },
      checkStats: () => undefined,
      connectInside: () => assert.fail('there is no listener inside'),
    },
    clock: systemClock,
    mustVerify: () => false,
    keyFound: () => (keysFound += 1),
  }).for(host(port));
  return { probe: made, received: () => received, port };
}

/** The outcome of one check of a host that answers so. */
async function checkOnce(
  resource: HealthCheckResource['probe'],
  answer: Answer,
): Promise<{ readonly outcome: ProbeOutcome; readonly received: string; readonly port: number }> {
  const check = { probe: resource, reuseConnection: false };
  const { probe, received, port } = await start(check, answer);
  const outcome = await new Promise<ProbeOutcome>((resolve) => {
    probe.run(resolve);
  });
  probe.cancel();
  server?.close();
  return { outcome, received: received(), port };
}

describe('a check over TCP', () => {
  it('fails when the host ends the connection that is kept for the next one', async () => {
    const tcp = { kind: 'tcp', send: '70', receive: ['71'] } as const;
    const check = { probe: tcp, reuseConnection: true };
    const { probe } = await start(check, (socket) => socket.end('q'));
    const outcomes: string[] = [];
    await new Promise<void>((resolve) => {
      probe.run(({ kind }) => {
        outcomes.push(kind);
        if (outcomes.length === 2) resolve();
      });
    });
    probe.cancel();
    assert.deepEqual(outcomes, ['passed', 'unreachable']);
  });
});

describe('a check over TCP with the PROXY protocol', () => {
  const [send = '', receive = ''] = ['ping', 'pong'].map((text) =>
    Buffer.from(text).toString('hex'),
  );
  const check = (version: 'V1' | 'V2'): ReturnType<typeof checkOnce> =>
    checkOnce(
      { kind: 'tcp', send, receive: [receive], proxyProtocol: { version, tlvs: [] } },
      (socket, text) => {
        if (text.includes('ping')) socket.end('pong');
      },
    );

  it('names the ends of its connection in the first version', async () => {
    const { outcome, received, port } = await check('V1');
    assert.equal(outcome.kind, 'passed');
    const ends = `127\\.0\\.0\\.1 127\\.0\\.0\\.1 [0-9]+ ${port}`;
    assert.match(received, new RegExp(`^PROXY TCP4 ${ends}\\r\\nping$`));
  });

  it('names nobody in the second', async () => {
    const { outcome, received } = await check('V2');
    assert.equal(outcome.kind, 'passed');
    assert.equal(received, '\r\n\r\n\0\r\nQUIT\n\u0020\0\0\0ping');
  });
});

describe('a check over HTTP/1', () => {
  const answers = [
    ['HTTP/1.1 200 OK\r\n\r\nwell', 'passed'],
    ['HTTP/1.0 200 OK\r\n\r\n', 'passed'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nwell', 'unreachable'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwell\r\n', 'unreachable'],
  ] as const;

  for (const [answer, kind] of answers) {
    it(`finds a host ${kind} that closes behind ${JSON.stringify(answer)}`, async () => {
      const { outcome } = await checkOnce(OVER_HTTP, (socket) => socket.end(answer));
      assert.equal(outcome.kind, kind);
    });
  }
});

describe('a check of Redis', () => {
  const outcomeOf = async (key: string | undefined, answer: string): Promise<string> => {
    const probe = { kind: 'redis', ...(key === undefined ? {} : { key }) } as const;
    const { outcome, received } = await checkOnce(probe, (socket) => socket.write(answer));
    const command =
      key === undefined ? '*1\r\n$4\r\nPING\r\n' : '*2\r\n$6\r\nEXISTS\r\n$1\r\nk\r\n';
    assert.equal(received, command);
    return outcome.kind;
  };

  it('passes on PONG alone', async () => {
    assert.equal(await outcomeOf(undefined, '+PONG\r\n'), 'passed');
    assert.equal(await outcomeOf(undefined, '$4\r\nPONG\r\n'), 'failed');
    assert.equal(await outcomeOf(undefined, '-ERR\r\n'), 'failed');
  });

  it('passes where the key does not exist, and counts hosts that have it', async () => {
    keysFound = 0;
    assert.equal(await outcomeOf('k', ':0\r\n'), 'passed');
    assert.equal(keysFound, 0);
    assert.equal(await outcomeOf('k', ':1\r\n'), 'failed');
    assert.equal(keysFound, 1);
  });

  it('says nothing of the end of the connection that is kept for the next one', async () => {
    const check = { probe: { kind: 'redis' }, reuseConnection: true } as const;
    const { probe } = await start(check, (socket) => socket.end('+PONG\r\n'));
    const outcomes: string[] = [];
    await new Promise<void>((resolve) => {
      probe.run(({ kind }) => {
        outcomes.push(kind);
        resolve();
      });
    });
    await new Promise<void>((resolve) => server?.close(() => resolve()));
    assert.deepEqual(outcomes, ['passed']);
    probe.cancel();
  });
});

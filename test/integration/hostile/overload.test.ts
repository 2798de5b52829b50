import assert from 'node:assert/strict';
import type { EventEmitter } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const MONITOR = 'envoy.resource_monitors.injected_resource';
const TYPE =
  'type.googleapis.com/envoy.extensions.resource_monitors.injected_resource.v3.InjectedResourceConfig';

function action(name: string, value: number): object {
  const trigger = { name: MONITOR, threshold: { value } };
  return { name: `envoy.overload_actions.${name}`, triggers: [trigger] };
}

async function isActive(sluice: Sluice, name: string): Promise<boolean> {
  return (await sluice.stats(`filter=${name}.active`)).endsWith(': 1\n');
}

async function answer(port: number): Promise<string> {
  const raw = await openRaw(port);
  raw.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
  const text = await raw.until(/\r\n\r\n.+$/s);
  raw.destroy();
  return text;
}

describe('the overload manager', () => {
  it('ends connections, refuses requests, then leaves new connections to the kernel', async () => {
    using scratch = makeScratch();
    const press = (value: string): void => moveIntoPlace(scratch, 'pressure', value);
    press('0');
    const config = {
      refresh_interval: '0.02s',
      resource_monitors: [
        { name: MONITOR, typed_config: { '@type': TYPE, filename: scratch.file('pressure') } },
      ],
      actions: [
        action('disable_http_keepalive', 0.5),
        action('stop_accepting_requests', 0.8),
        action('stop_accepting_connections', 0.9),
      ],
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }, { overload_manager: config }),
      concurrency: 2,
    });
    const port = await sluice.listenerPort('web');
    assert.doesNotMatch(await answer(port), /connection: close/);
    press('0.6');
    await waitUntil('keep-alive is off', () => isActive(sluice, 'disable_http_keepalive'));
    assert.match(await answer(port), /^HTTP\/1\.1 200 .*connection: close\r\n/s);
    press('0.85');
    await waitUntil('requests are refused', () => isActive(sluice, 'stop_accepting_requests'));
    assert.match(await answer(port), /^HTTP\/1\.1 503 .*\r\n\r\nenvoy overloaded$/s);
    press('0.95');
    await waitUntil('connections wait', () => isActive(sluice, 'stop_accepting_connections'));
    const waiting = connect(port, '127.0.0.1');
    const answered = new Promise<string>((resolve) => {
      waiting.once('data', (piece: Buffer) => resolve(piece.toString('latin1')));
    });
    waiting.write('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    const body = await sluice.stats('filter=overload');
    assert.match(body, /^http\.\w+\.downstream_rq_overload_close: 1$/m);
    assert.match(body, /^overload\.envoy\.resource_monitors\.injected_resource\.pressure: 95$/m);
    press('0.1');
    assert.match(await answered, /^HTTP\/1\.1 200 /);
    waiting.destroy();
  });
});

const TIMERS_TYPE = 'type.googleapis.com/envoy.config.overload.v3.ScaleTimersOverloadActionConfig';

describe('load shed points and shorter timeouts', () => {
  it('refuse work at each point by its own pressure, count it, and end idle connections sooner', async () => {
    using scratch = makeScratch();
    const press = (value: string): void => moveIntoPlace(scratch, 'pressure', value);
    press('0');
    const point = (name: string, from: number): object => ({
      name: `envoy.load_shed_points.${name}`,
      triggers: [{ name: MONITOR, threshold: { value: from } }],
    });
    const config = {
      refresh_interval: '0.02s',
      resource_monitors: [
        { name: MONITOR, typed_config: { '@type': TYPE, filename: scratch.file('pressure') } },
      ],
      actions: [
        {
          name: 'envoy.overload_actions.reduce_timeouts',
          triggers: [{ name: MONITOR, threshold: { value: 0.9 } }],
          typed_config: {
            '@type': TIMERS_TYPE,
            timer_scale_factors: [
              { timer: 'HTTP_DOWNSTREAM_CONNECTION_IDLE', min_timeout: '0.05s' },
            ],
          },
        },
      ],
      loadshed_points: [
        point('tcp_listener_accept', 0.6),
        point('http1_server_abort_dispatch', 0.4),
        point('http_connection_manager_decode_headers', 0.2),
      ],
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }, { overload_manager: config }),
      concurrency: 1,
    });
    const port = await sluice.listenerPort('web');
    const pressed = async (value: string): Promise<void> => {
      press(value);
      const shown = `pressure: ${Math.round(Number(value) * 100)}\n`;
      await waitUntil(`a pressure of ${value}`, async () =>
        (await sluice.stats('filter=resource.pressure')).endsWith(shown),
      );
    };
    const patient = await openRaw(port);
    patient.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    await patient.until(/hi$/);
    await pressed('0.3');
    assert.match(await answer(port), /^HTTP\/1\.1 503 .*\r\n\r\nenvoy overloaded$/s);
    await pressed('0.5');
    assert.match(await answer(port), /^HTTP\/1\.1 500 .*connection: close\r\n.*Server Error$/s);
    await pressed('0.7');
    assert.equal(await (await openRaw(port)).closed(), '');
    await pressed('0.95');
    assert.match(await patient.closed(), /^HTTP\/1\.1 200 [^]*hi$/);
    const body = await sluice.stats('filter=shed_load_count|cx_idle_timeout');
    for (const name of ['http1_server_abort_dispatch', 'tcp_listener_accept']) {
      assert.match(
        body,
        new RegExp(`^overload\\.envoy\\.load_shed_points\\.${name}\\..*: 1$`, 'm'),
      );
    }
    assert.match(body, /^http\.web\.downstream_cx_idle_timeout: 1$/m);
  });
});

describe('the limit on downstream connections', () => {
  it('is reached exactly, whichever workers the kernel chooses, and given back', async () => {
    const name = 'envoy.resource_monitors.global_downstream_max_connections';
    const type =
      'type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig';
    const monitor = {
      name,
      typed_config: { '@type': type, max_active_downstream_connections: 5 },
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap(
        { listeners: [httpListener(GREETING)] },
        { overload_manager: { resource_monitors: [monitor] } },
      ),
      concurrency: 3,
    });
    const port = await sluice.listenerPort('web');
    const open: Awaited<ReturnType<typeof openRaw>>[] = [];
    let refused = 0;
    for (let count = 0; count < 12; count += 1) {
      const raw = await openRaw(port);
      raw.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
      const text = await Promise.race([raw.until('hi'), raw.closed()]);
      if (text === '') refused += 1;
      else open.push(raw);
    }
    assert.equal(open.length, 5);
    assert.equal(refused, 7);
    const body = await sluice.stats('filter=downstream_global_cx_overflow');
    assert.match(body, /: 7\n/);
    for (const raw of open) raw.destroy();
    await waitUntil('a place is free', async () => {
      const text = await answer(port).catch(() => '');
      return / 200 /.test(text);
    });
  });
});

describe('load shed points of HTTP/2', () => {
  it('ask clients to go and serve them, then end their connections', async () => {
    using scratch = makeScratch();
    const press = (value: string): void => moveIntoPlace(scratch, 'pressure', value);
    press('0.6');
    const point = (name: string, value: number): object => ({
      name: `envoy.load_shed_points.http2_server_go_away_${name}`,
      triggers: [{ name: MONITOR, threshold: { value } }],
    });
    const config = {
      refresh_interval: '0.02s',
      resource_monitors: [
        { name: MONITOR, typed_config: { '@type': TYPE, filename: scratch.file('pressure') } },
      ],
      loadshed_points: [point('on_dispatch', 0.5), point('and_close_on_dispatch', 0.9)],
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }, { overload_manager: config }),
    });
    const port = await sluice.listenerPort('web');
    const isShed = async (name: string): Promise<boolean> =>
      (await sluice.stats(`filter=go_away_${name}.scale_percent`)).endsWith(': 100\n');
    await waitUntil('clients are asked to go', () => isShed('on_dispatch'));
    assert.deepEqual(await talk(port), { goaways: 1, status: 200 });
    press('0.95');
    await waitUntil('connections end', () => isShed('and_close_on_dispatch'));
    assert.deepEqual(await talk(port), { goaways: 2, status: undefined });
    const counted = await sluice.stat(
      'overload.envoy.load_shed_points.http2_server_go_away_and_close_on_dispatch.shed_load_count',
    );
    assert.equal(counted, 1);
  });
});

/** One request on a connection of its own, and how often it is told to go. */
async function talk(port: number): Promise<object> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  let goaways = 0;
  session.on('goaway', () => (goaways += 1));
  const stream = session.request({ ':path': '/' });
  let status: number | undefined;
  stream.on('response', (headers) => (status = headers[':status']));
  stream.on('error', () => undefined);
  stream.resume();
  await closed(stream);
  session.close();
  if (!session.destroyed) await closed(session);
  return { goaways, status };
}

/** Errors before it are expected. */
function closed(emitter: EventEmitter): Promise<void> {
  return new Promise((resolve) => void emitter.once('close', resolve));
}

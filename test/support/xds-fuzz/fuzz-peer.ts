/** Control planes for a fuzz of updates: by streams or by REST, over connections that can be cut at any byte. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RESOURCE_TYPES } from '../../../supervisor/xds/resource-type.ts';
import { startControlPlane, typeUrlOf } from '../control-plane.ts';
import { Signal } from '../signal.ts';
import { waitUntil } from '../wait.ts';

export interface FuzzPeer {
  /** Of the connections that can be cut. */
  readonly port: number;
  /** Says this now and to whoever asks later. */
  set(kind: string, version: string, resources: readonly object[]): void;
  /** Says this once. */
  say(kind: string, version: string, resources: readonly object[]): void;
  /** Says what is no answer at all. */
  sayNonsense(kind: string): void;
  /** Ends all streams in good order. */
  drop(): void;
  /** Lets this many more bytes pass on each connection while `say` speaks, and breaks them all. */
  cut(bytes: number, say: () => void): Promise<void>;
  /** Resolves when everything that was said is answered, on all streams. */
  quiet(): Promise<void>;
  /** Answers so far: taken, refused. */
  counts(): { readonly taken: number; readonly refused: number };
  [Symbol.asyncDispose](): Promise<void>;
}

/** A name that no type has, so that an answer by REST is no JSON of it. */
const NONSENSE = '{"version_info": ';
const QUIET_LIMIT_MS = 30_000;

export async function startStreamPeer(isDelta: boolean): Promise<FuzzPeer> {
  const control = await startControlPlane();
  const relay = await startRelay(control.port);
  let nonsense = 0;
  return {
    port: relay.port,
    set: (kind, version, resources) => control.set(kind, version, resources),
    say: (kind, version, resources) => {
      const wrapped = resources.map((each, index) => ({
        name: (each as { readonly name?: string }).name ?? `unnamed ${index}`,
        version,
        resource: each,
      }));
      control.sendRaw({
        type_url: typeUrlOf(kind),
        [isDelta ? 'system_version_info' : 'version_info']: version,
        resources: isDelta ? wrapped : resources,
      });
    },
    sayNonsense: () => {
      nonsense += 1;
      control.sendBytes(Buffer.from([0x0a, 0x7f, nonsense % 256, 0xff, 0xff]));
    },
    drop: () => control.drop(),
    cut: (bytes, say) => relay.cut(bytes, say),
    quiet: () => control.quiet(QUIET_LIMIT_MS),
    counts: () => {
      const answers = control.requests.filter(({ response_nonce: nonce }) => nonce !== undefined);
      const refused = answers.filter(({ error_detail: detail }) => detail !== undefined).length;
      return { taken: answers.length - refused, refused };
    },
    [Symbol.asyncDispose]: async () => {
      relay.close();
      await control[Symbol.asyncDispose]();
    },
  };
}

interface Polled {
  body: string;
  /** Said once each, before the body again. */
  readonly once: (string | number)[];
  polls: number;
}

export async function startRestPeer(): Promise<FuzzPeer> {
  const byPath = new Map<string, Polled>();
  const signal = new Signal();
  /** Since it was quiet last. */
  const said = new Set<Polled>();
  const polledOf = (kind: string): Polled => {
    const url = typeUrlOf(kind);
    const type = Object.values(RESOURCE_TYPES).find(({ typeUrl }) => typeUrl === url);
    const polled = pathOf(type?.restPath ?? '');
    // What nobody asks for yet is waited for by nobody.
    if (polled.polls > 0) said.add(polled);
    return polled;
  };
  const pathOf = (path: string): Polled => {
    const known = byPath.get(path) ?? { body: '', once: [], polls: 0 };
    byPath.set(path, known);
    return known;
  };
  let served = 0;
  let spoilt = 0;
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const polled = pathOf(request.url ?? '');
    polled.polls += 1;
    const once = polled.once.shift();
    if (once === undefined) served += 1;
    else spoilt += 1;
    response.statusCode = typeof once === 'number' ? once : 200;
    response.end(typeof once === 'string' ? once : polled.body);
    signal.happened();
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => serve(request, response));
  });
  server.listen(0, '127.0.0.1');
  await waitUntil('the server', () => server.listening);
  const relay = await startRelay((server.address() as AddressInfo).port);
  const json = (version: string, resources: readonly object[]): string =>
    JSON.stringify({ version_info: version, resources });
  return {
    port: relay.port,
    set: (kind, version, resources) => {
      polledOf(kind).body = json(version, resources);
    },
    say: (kind, version, resources) => void polledOf(kind).once.push(json(version, resources)),
    sayNonsense: (kind) => void polledOf(kind).once.push(NONSENSE, 503, ''),
    drop: () => relay.cut(0, () => undefined),
    cut: (bytes, say) => relay.cut(bytes, say),
    quiet: async () => {
      const wanted = [...said].map(
        (polled) => [polled, polled.polls + polled.once.length + 2] as const,
      );
      said.clear();
      await signal.until(
        'another question of each type that something was said of',
        () => wanted.every(([polled, polls]) => polled.polls >= polls),
        QUIET_LIMIT_MS,
      );
    },
    counts: () => ({ taken: served, refused: spoilt }),
    [Symbol.asyncDispose]: async () => {
      relay.close();
      server.close();
      server.closeAllConnections();
      await nextTurn();
    },
  };
}

interface Relay {
  readonly port: number;
  cut(bytes: number, say: () => void): Promise<void>;
  close(): void;
}

async function startRelay(target: number): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  /** What may still pass to each client; undefined: everything. */
  let allowance: number | undefined;
  const server = createTcpServer((client) => {
    const peer = connect(target, '127.0.0.1');
    const pair = [client, peer] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      peer.destroy();
    };
    let passed = 0;
    client.on('data', (piece) => peer.write(piece));
    peer.on('data', (piece: Buffer) => {
      if (allowance === undefined) {
        client.write(piece);
        return;
      }
      client.write(piece.subarray(0, Math.max(0, allowance - passed)));
      passed += piece.length;
    });
    for (const socket of pair) socket.on('error', end).on('close', end);
  });
  server.listen(0, '127.0.0.1');
  await waitUntil('the relay', () => server.listening);
  return {
    port: (server.address() as AddressInfo).port,
    cut: async (bytes, say) => {
      allowance = bytes;
      say();
      // What was said is on its way through two sockets.
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      for (const [client, peer] of pairs) {
        client.end();
        peer.destroy();
      }
      allowance = undefined;
    },
    close: () => {
      server.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}

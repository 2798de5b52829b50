/**
 * Control planes for a fuzz of updates: by streams or by REST, over connections that can be cut at
 * any byte.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RESOURCE_TYPES } from '../../../supervisor/resolved/resource-kinds.ts';
import { startControlPlane, typeUrlOf } from '../peers/control-plane.ts';
import { Signal } from '../signal.ts';
import { waitUntil } from '../wait.ts';

export interface FuzzPeer {
  /** The port of the connections that can be cut. */
  readonly port: number;
  /** Says this now and to those that ask later. */
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
/** Fifty versions of all listeners take long on a machine that is busy with other things. */
const QUIET_LIMIT_MS = 120_000;

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
  /** With so many, what was said of it is taken. */
  wanted: number;
  /** Answers a question that waits for something new. */
  answerHeld: () => void;
}

/** A question when all is said waits so long: the others have the machine meanwhile. */
const HELD_MS = 50;

export async function startRestPeer(): Promise<FuzzPeer> {
  const byPath = new Map<string, Polled>();
  const signal = new Signal();
  const polledOf = (kind: string): Polled => {
    const url = typeUrlOf(kind);
    const type = Object.values(RESOURCE_TYPES).find(({ typeUrl }) => typeUrl === url);
    return pathOf(type?.restPath ?? '');
  };
  const pathOf = (path: string): Polled => {
    const first = { body: '', once: [], polls: 0, wanted: 0, answerHeld: () => undefined };
    const known = byPath.get(path) ?? first;
    byPath.set(path, known);
    return known;
  };
  const awaitTaken = (polled: Polled): void => {
    polled.wanted = polled.polls + polled.once.length + 2;
    polled.answerHeld();
  };
  const sayOnce = (kind: string, ...answers: (string | number)[]): void => {
    const polled = polledOf(kind);
    polled.once.push(...answers);
    awaitTaken(polled);
  };
  let served = 0;
  let spoilt = 0;
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const polled = pathOf(request.url ?? '');
    polled.polls += 1;
    signal.happened();
    if (polled.polls <= polled.wanted || polled.once.length > 0) return answer(polled, response);
    const { answerHeld: others } = polled;
    const timer = setTimeout(() => polled.answerHeld(), HELD_MS);
    polled.answerHeld = () => {
      clearTimeout(timer);
      polled.answerHeld = () => undefined;
      others();
      answer(polled, response);
    };
  };
  const answer = (polled: Polled, response: ServerResponse): void => {
    const once = polled.once.shift();
    if (once === undefined) served += 1;
    else spoilt += 1;
    response.statusCode = typeof once === 'number' ? once : 200;
    response.end(typeof once === 'string' ? once : polled.body);
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => serve(request, response));
  });
  server.listen(0, '127.0.0.1');
  await waitUntil('the server', () => server.listening);
  const relay = await startRelay((server.address() as AddressInfo).port);
  /** What was said may be lost. */
  const cut = async (bytes: number, say: () => void): Promise<void> => {
    await relay.cut(bytes, say);
    for (const polled of byPath.values()) awaitTaken(polled);
  };
  const json = (version: string, resources: readonly object[]): string =>
    JSON.stringify({ version_info: version, resources });
  return {
    port: relay.port,
    set: (kind, version, resources) => {
      const polled = polledOf(kind);
      polled.body = json(version, resources);
      awaitTaken(polled);
    },
    say: (kind, version, resources) => sayOnce(kind, json(version, resources)),
    sayNonsense: (kind) => sayOnce(kind, NONSENSE, 503, ''),
    drop: () => void cut(0, () => undefined),
    cut,
    quiet: async () => {
      await signal.until(
        'further questions of each type that something was said of',
        // What nobody asks for yet is waited for by nobody.
        () => [...byPath.values()].every(({ polls, wanted }) => polls === 0 || polls >= wanted),
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

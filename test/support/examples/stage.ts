/**
 * Starts examples of Envoy's own (test/integration/examples/fixtures) as they are written, but for
 * their addresses: listeners get ports of the test's own, hosts are peers of the test's.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { isMap, parseDocument, visit } from 'yaml';
import { fetchOnce, type Answer, type Ask } from '../peers/http-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../peers/upstream.ts';
import { ADMIN, startSluice, type RunOptions, type Sluice } from '../programs/sluice.ts';

export const EXAMPLES = join(import.meta.dirname, '../../../../test/integration/examples/fixtures');

export interface Setting {
  /** By `address:port` of a host, the port of the peer in its place. */
  readonly hosts?: Readonly<Record<string, number>>;
  /** By port of a listener or of the admin interface, its port here; the others are free ones. */
  readonly own?: Readonly<Record<number, number>>;
  /** By text that is a whole value, such as a path, what stands there instead. */
  readonly values?: Readonly<Record<string, string>>;
  readonly run?: Pick<RunOptions, 'scratch' | 'args' | 'isReady'>;
}

/** Asks what the example promises. */
export type AskExample = () => Promise<void>;

/**
 * The rows of a table that this run asks: `npm test` those that are named, and
 * `npm run test:examples`, which sets SLUICE_EXAMPLES=all, every one.
 */
export function askedNow(
  table: Readonly<Record<string, AskExample>>,
  ...briefly: readonly string[]
): readonly (readonly [name: string, ask: AskExample])[] {
  const isAll = process.env['SLUICE_EXAMPLES'] === 'all';
  return Object.entries(table).filter(([name]) => isAll || briefly.includes(name));
}

export interface Example extends AsyncDisposable {
  readonly sluice: Sluice;
  /** Asks the listener of this place, 0 the first. */
  ask(listener: number, ask: string | Ask): Promise<Answer>;
  /** The same over TLS. */
  askSecurely(listener: number, path: string, headers?: OutgoingHttpHeaders): Promise<SecureAnswer>;
  /** The same of a listener that came later. */
  askNamed(listener: string, path: string): Promise<Answer>;
  port(listener: number): Promise<number>;
}

export async function startExample(path: string, setting: Setting = {}): Promise<Example> {
  const bootstrap = placed(readFileSync(join(EXAMPLES, path), 'utf8'), setting);
  const sluice = await startSluice({ bootstrap, ...setting.run });
  const port = (listener: number): Promise<number> => sluice.listenerPort(nameOf(listener));
  return {
    sluice,
    port,
    ask: async (listener, ask) =>
      await fetchOnce({
        port: await port(listener),
        ...(typeof ask === 'string' ? { path: ask } : ask),
      }),
    askNamed: async (listener, path) =>
      await fetchOnce({ port: await sluice.listenerPort(listener), path }),
    askSecurely: async (listener, path, headers) =>
      await fetchSecurely(await port(listener), path, headers),
    [Symbol.asyncDispose]: () => sluice[Symbol.asyncDispose](),
  };
}

/** The text of an example with the addresses of a test. */
export function placed(text: string, { hosts = {}, own = {}, values = {} }: Setting): string {
  const document = parseDocument(text);
  const portOf = (host: string): number => {
    const port = hosts[host];
    if (port === undefined) throw new Error(`nobody stands for ${host}`);
    return port;
  };
  visit(document, {
    Map(_key, node, ancestors) {
      const { address, port_value: port } = node.toJSON() as Record<string, unknown>;
      if (typeof port !== 'number' || typeof address !== 'string') return;
      const endpoint = ancestors.find((each) => isMap(each) && each.has('health_check_config'));
      const isHost = ancestors.some((each) => isMap(each) && each.has('endpoint'));
      node.set('address', '127.0.0.1');
      node.set('port_value', isHost ? portOf(`${address}:${port}`) : (own[port] ?? 0));
      if (!isMap(endpoint)) return;
      endpoint.setIn(['health_check_config', 'port_value'], node.get('port_value'));
    },
    Scalar(_key, node) {
      if (typeof node.value === 'string') node.value = values[node.value] ?? node.value;
    },
  });
  for (const at of listenersOf(document.toJS()).keys()) {
    // Envoy gives those without a name one by chance.
    document.setIn([...LISTENERS, at, 'name'], nameOf(at));
  }
  if (!document.has('resources') && !document.has('admin')) document.set('admin', ADMIN);
  return document.toString();
}

type SecureAnswer = Pick<Answer, 'status' | 'headers' | 'body'>;

/** Whoever answers is believed. */
export async function fetchSecurely(
  port: number,
  path: string,
  headers: OutgoingHttpHeaders = {},
  servername = 'localhost',
): Promise<SecureAnswer> {
  const address = { host: '127.0.0.1', port, path, headers, servername, agent: false };
  const options = { ...address, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false };
  const asked = request(options).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let body = '';
  for await (const piece of response.setEncoding('latin1')) body += String(piece);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

const LISTENERS = ['static_resources', 'listeners'];

function nameOf(listener: number): string {
  return `listener-${listener}`;
}

function listenersOf(bootstrap: unknown): readonly unknown[] {
  const { static_resources: statics } = bootstrap as {
    readonly static_resources?: { readonly listeners?: readonly unknown[] };
  };
  return statics?.listeners ?? [];
}

/** What stands behind most examples: says its name, and the headers and the path that it saw. */
export async function startEcho(name: string): Promise<HttpUpstream> {
  return await startHttpUpstream((request, response) => {
    const { headers, url, method } = request;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ hostname: name, method, path: url, headers }));
  });
}

/** The services of front proxies: `/anything/1` is answered by the first alone. */
export async function startService(number: number): Promise<HttpUpstream> {
  return await startHttpUpstream((request, response) => {
    const isOwn = request.url?.split('/').at(-1) === String(number);
    response.statusCode = isOwn ? 200 : 404;
    response.end(isOwn ? `Hello from behind Envoy (service ${number})!\n` : 'not found');
  });
}

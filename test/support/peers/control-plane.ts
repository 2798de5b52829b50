/** A control plane for tests, by hand: aggregated or by type, state of the world or incremental. */
import { createHash } from 'node:crypto';
import {
  Server,
  ServerCredentials,
  type MethodDefinition,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { messageFromBinary, messageToBinary } from '../../../supervisor/config/message-codec.ts';
import { RESOURCE_TYPES } from '../../../supervisor/resolved/resource-kinds.ts';
import { Signal } from '../signal.ts';

const PACKAGE = 'envoy.service.discovery.v3';

interface AskedFor {
  readonly type_url: string;
  readonly version_info?: string;
  readonly response_nonce?: string;
  readonly resource_names?: readonly string[];
  readonly resource_names_subscribe?: readonly string[];
  readonly resource_names_unsubscribe?: readonly string[];
  readonly initial_resource_versions?: Readonly<Record<string, string>>;
  readonly error_detail?: { readonly message: string };
  readonly node?:
    | {
        readonly id: string;
        readonly extensions?: readonly { readonly name: string }[];
      }
    | undefined;
  /** What came with the call. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The path of the method that was called. */
  readonly path: string;
}

export interface ControlPlane {
  readonly port: number;
  readonly requests: AskedFor[];
  /** Sends the resources of one type now, and to every stream that asks for the type later. */
  set(kind: string, version: string, resources: readonly object[]): void;
  /** Sends this answer to all streams, whatever they asked for. */
  sendRaw(answer: object): void;
  /** Sends these bytes to all streams as an answer. */
  sendBytes(answer: Buffer): void;
  /** Resolves when there is a stream and every answer was taken or refused. */
  quiet(limitMs: number): Promise<void>;
  /** Ends every stream. */
  drop(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

type Stream = ServerDuplexStream<Buffer, Buffer>;

interface Answer {
  readonly version: string;
  readonly resources: ReadonlyMap<string, object>;
}

type Answering = { readonly type_url?: string } & Readonly<Record<string, unknown>>;

/** One call of a client. */
interface Call {
  readonly stream: Stream;
  readonly isDelta: boolean;
  /** By type: what was asked for by name, and what of each was sent. */
  readonly wanted: Map<string, Set<string>>;
  readonly sent: Map<string, Map<string, string>>;
  /** By type: the nonce of the last answer, until it is answered. */
  readonly unanswered: Map<string, string>;
}

/** Without credentials it speaks plain text. */
export async function startControlPlane(
  credentials = ServerCredentials.createInsecure(),
): Promise<ControlPlane> {
  const catalog = new ApiCatalog();
  const server = new Server();
  const calls = new Set<Call>();
  const requests: AskedFor[] = [];
  /** Most of a request is what it says of the node, and that is the same each time. */
  const nodes = new Map<string, AskedFor['node']>();
  const withOneNode = (request: AskedFor): AskedFor => {
    const key = JSON.stringify(request.node);
    if (key === undefined) return request;
    if (!nodes.has(key)) nodes.set(key, request.node);
    return { ...request, node: nodes.get(key) };
  };
  const answers = new Map<string, Answer>();
  const signal = new Signal();
  let nonce = 0;
  const write = ({ stream, isDelta, wanted, unanswered }: Call, answer: Answering): void => {
    nonce += 1;
    const name = `${PACKAGE}.${isDelta ? 'Delta' : ''}DiscoveryResponse`;
    const message = { nonce: String(nonce), control_plane: { identifier: 'by hand' }, ...answer };
    const { type_url: url = '' } = answer;
    if (wanted.has(url)) unanswered.set(url, message.nonce);
    stream.write(Buffer.from(messageToBinary(catalog, name, message)));
  };
  const send = (call: Call, url: string): void => {
    const answer = answers.get(url);
    if (answer === undefined || !call.wanted.has(url)) return;
    const message = call.isDelta ? deltaOf(call, url, answer) : sotwOf(url, answer);
    if (message !== undefined) write(call, message);
  };
  const serve = (stream: Stream, path: string): void => {
    const isDelta = path.includes('/Delta');
    const call: Call = {
      stream,
      isDelta,
      wanted: new Map(),
      sent: new Map(),
      unanswered: new Map(),
    };
    calls.add(call);
    const gone = (): void => {
      calls.delete(call);
      signal.happened();
    };
    for (const end of ['error', 'cancelled', 'close']) stream.on(end, gone);
    stream.on('end', () => {
      gone();
      stream.end();
    });
    stream.on('data', (bytes: Buffer) => {
      const sink = { report: (): void => undefined };
      const options = { catalog, sink, unknownFields: 'ignore' } as const;
      const name = `${PACKAGE}.${isDelta ? 'Delta' : ''}DiscoveryRequest`;
      const read = withOneNode(messageFromBinary(options, name, bytes) as unknown as AskedFor);
      const request = { ...read, metadata: stream.metadata.getMap(), path };
      requests.push(request);
      const { type_url: url, response_nonce: answered } = request;
      if (call.unanswered.get(url) === answered) call.unanswered.delete(url);
      if (wants(call, request)) send(call, request.type_url);
      signal.happened();
    });
  };
  for (const path of paths()) {
    server.addService({ stream: methodOf(path) }, { stream: (call: Stream) => serve(call, path) });
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    requests,
    set: (kind, version, resources) => {
      const url = typeUrlOf(kind);
      // Fields that are undefined are absent.
      const plain = JSON.parse(JSON.stringify(resources)) as object[];
      answers.set(url, { version, resources: new Map(plain.map((each) => [nameOf(each), each])) });
      for (const call of calls) send(call, url);
    },
    sendRaw: (answer) => {
      for (const call of calls) write(call, { ...answer });
    },
    sendBytes: (answer) => {
      for (const { stream } of calls) stream.write(answer);
    },
    quiet: (limitMs) =>
      signal.until(
        'an answer to everything',
        () => calls.size > 0 && [...calls].every(({ unanswered }) => unanswered.size === 0),
        limitMs,
      ),
    drop: () => {
      for (const { stream } of calls) stream.end();
      calls.clear();
    },
    [Symbol.asyncDispose]: async () => {
      server.forceShutdown();
      await Promise.resolve();
    },
  };
}

export function typeUrlOf(kind: string): string {
  const prefix = kind.startsWith('envoy.') ? '' : 'envoy.config.';
  return `type.googleapis.com/${prefix}${kind}`;
}

function paths(): readonly string[] {
  const aggregated = {
    grpcService: `${PACKAGE}.AggregatedDiscoveryService`,
    grpcNoun: 'AggregatedResources',
  };
  return [aggregated, ...Object.values(RESOURCE_TYPES)].flatMap(({ grpcService, grpcNoun }) => [
    `/${grpcService}/Stream${grpcNoun}`,
    `/${grpcService}/Delta${grpcNoun}`,
  ]);
}

function methodOf(path: string): MethodDefinition<Buffer, Buffer> {
  const bytes = (value: Buffer): Buffer => value;
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
}

function nameOf(resource: object): string {
  const { name, cluster_name: cluster } = resource as { name?: string; cluster_name?: string };
  return name ?? cluster ?? '';
}

/** Notes what a request asks for; whether it is to be answered. */
function wants({ wanted, sent, isDelta }: Call, request: AskedFor): boolean {
  const { type_url: url, response_nonce: nonce } = request;
  const isFirst = !wanted.has(url);
  const names = wanted.get(url) ?? new Set();
  wanted.set(url, names);
  if (!isDelta) {
    const { resource_names: asked = [] } = request;
    wanted.set(url, new Set(asked));
    return nonce === undefined || asked.some((name) => !names.has(name));
  }
  const { resource_names_subscribe: subscribed = [] } = request;
  for (const name of subscribed) names.add(name);
  for (const name of request.resource_names_unsubscribe ?? []) names.delete(name);
  if (isFirst) sent.set(url, new Map(Object.entries(request.initial_resource_versions ?? {})));
  return isFirst || subscribed.length > 0;
}

function sotwOf(url: string, { version, resources }: Answer): Record<string, unknown> {
  return { version_info: version, type_url: url, resources: [...resources.values()] };
}

function versionOf(resource: object): string {
  return createHash('sha256').update(JSON.stringify(resource)).digest('hex');
}

/** A resource's version is a hash of what it says. */
function deltaOf(call: Call, url: string, answer: Answer): Record<string, unknown> | undefined {
  const names = call.wanted.get(url) ?? new Set();
  const sent = call.sent.get(url) ?? new Map<string, string>();
  call.sent.set(url, sent);
  const isWanted = (name: string): boolean => names.size === 0 || names.has('*') || names.has(name);
  const changed = [...answer.resources].filter(
    ([name, resource]) => isWanted(name) && sent.get(name) !== versionOf(resource),
  );
  const removed = [...sent.keys()].filter((name) => !answer.resources.has(name));
  for (const [name, resource] of changed) sent.set(name, versionOf(resource));
  for (const name of removed) sent.delete(name);
  return {
    system_version_info: answer.version,
    type_url: url,
    resources: changed.map(([name, resource]) => ({
      name,
      version: versionOf(resource),
      resource,
    })),
    removed_resources: removed,
  };
}

/** One request of a client at its cluster, until its answer is written or there is none. */
import { THRIFT_PROXY } from '../../shared/stats/templates/thrift.ts';
import { readerOf } from '../../shared/thrift/thrift-message.ts';
import type { ThriftReader } from '../../shared/thrift/thrift-reader.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { joined, type Struct } from '../../shared/text/dictionary.ts';
import type { UpstreamEnd } from '../tcp/proxied-upstream.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { HostConnection, HostUser, Wording } from './host-connection.ts';
import type { CutMessage } from './message-stream.ts';
import type { ThriftConnection } from './thrift-connection.ts';
import type { ThriftProxyServer } from './thrift-proxy.ts';
import { EXCEPTION_TYPE, exceptionStructure, writeMessage } from './write-message.ts';

const { index } = THRIFT_PROXY;
const ONE_WAY = 4;
const REPLY = 2;
const NO_HEADERS = new HeaderMap();
/** Kinds of exceptions. */
const UNKNOWN_METHOD = 1;
const INTERNAL_ERROR = 6;
const PROTOCOL_ERROR = 7;

export class ThriftExchange implements HostUser {
  readonly #server: ThriftProxyServer;
  readonly #connection: ThriftConnection;
  readonly #request: CutMessage;
  readonly #startedMs: number;
  /** The way that hosts of the cluster are spoken to. */
  #wording: Wording;
  #cluster: UpstreamCluster | undefined = undefined;
  #host: HostConnection | undefined = undefined;
  #isOver = false;

  constructor(server: ThriftProxyServer, connection: ThriftConnection, request: CutMessage) {
    this.#server = server;
    this.#connection = connection;
    this.#request = request;
    this.#wording = request.found;
    this.#startedMs = server.parts.loop.clock.ms;
    server.add(index.request_active, 1);
  }

  start(info: StreamInfo): void {
    const server = this.#server;
    const request = this.#request;
    const { headers, name } = request;
    for (const filter of server.filters) filter(request, headers, info);
    const target = server.routes.find(name, headers);
    if (target === undefined) {
      server.count(index.route_missing);
      this.#refuse(`no route for method '${name}'`, UNKNOWN_METHOD);
      return;
    }
    const cluster = server.parts.clusters.get(target.cluster);
    if (cluster === undefined) {
      server.count(index.unknown_cluster);
      this.#refuse(`unknown cluster '${target.cluster}'`, INTERNAL_ERROR);
      return;
    }
    this.#cluster = cluster;
    this.#countUpstream(request.type === ONE_WAY ? 'upstream_rq_oneway' : 'upstream_rq_call');
    const host = hostOf(cluster, headers, info, target.subset);
    if (host === undefined) {
      server.count(index.no_healthy_upstream);
      this.#refuseUpstream(`no healthy upstream for '${target.cluster}'`);
      return;
    }
    this.#send(cluster, host, target.stripsService, info);
  }

  /** The client is gone. */
  cancel(): void {
    if (this.#isOver) return;
    this.#end();
    this.#host?.close();
  }

  onReply(message: CutMessage): void {
    if (this.#isOver) return;
    this.#countReply(message);
    const { sequence, found } = this.#request;
    this.#answer(writeMessage({ ...message, ...found, sequence }));
  }

  onHostFailure(end: UpstreamEnd | undefined): void {
    if (this.#isOver) return;
    const server = this.#server;
    if (end === undefined) {
      server.count(index.response_decoding_error);
      this.#refuseUpstream('the answer of the host breaks the protocol', PROTOCOL_ERROR);
    } else if (end.kind === 'refused') {
      this.#countUpstream('upstream_resp_exception_local.overflow');
      this.#refuseUpstream('thrift upstream request: too many connections');
    } else {
      this.#countUpstream('upstream_resp_exception_local.remote_connection_failure');
      const address = this.#host?.host.address ?? '';
      const why = `remote connection failure '${address}'`;
      this.#refuseUpstream(`connection failure before response start: ${why}`);
    }
  }

  #send(
    cluster: UpstreamCluster,
    host: UpstreamHost,
    stripsService: boolean,
    info: StreamInfo,
  ): void {
    const { name: whole, headers, type, structure, found } = this.#request;
    this.#server.count(index.request);
    this.#server.count(type === ONE_WAY ? index.request_oneway : index.request_call);
    const transport = cluster.resource.thriftTransport ?? found.transport;
    this.#wording = { transport, protocol: found.protocol };
    const { hosts } = this.#server;
    const connection = hosts.take(cluster, host, this.#wording, info.connection);
    this.#host = connection;
    const name = stripsService ? whole.slice(whole.indexOf(':') + 1) : whole;
    connection.send(this, (sequence) =>
      writeMessage({ name, type, sequence, headers, structure, ...this.#wording }),
    );
    if (type !== ONE_WAY || this.#isOver) return;
    connection.finishOneWay();
    this.#end();
  }

  #countReply({ type, found, structure }: CutMessage): void {
    const server = this.#server;
    server.count(index.response);
    if (type === EXCEPTION_TYPE) {
      server.count(index.response_exception);
      this.#countUpstream('upstream_resp_exception');
      this.#countUpstream('upstream_resp_exception_remote');
      return;
    }
    if (type !== REPLY) {
      server.count(index.response_invalid_type);
      this.#countUpstream('upstream_resp_invalid_type');
      return;
    }
    const isSuccess = succeeds(readerOf(found.protocol, structure, 0));
    server.count(index.response_reply);
    server.count(isSuccess ? index.response_success : index.response_error);
    this.#countUpstream('upstream_resp_reply');
    this.#countUpstream(isSuccess ? 'upstream_resp_success' : 'upstream_resp_error');
  }

  #refuseUpstream(text: string, kind = INTERNAL_ERROR): void {
    this.#countUpstream('upstream_resp_exception');
    this.#countUpstream('upstream_resp_exception_local');
    this.#refuse(text, kind);
  }

  /** An answer of our own ends the connection. */
  #refuse(text: string, kind: number): void {
    const { name, sequence, found, type } = this.#request;
    this.#server.count(index.response_exception);
    const structure = exceptionStructure(found.protocol, text, kind);
    const message = { name, sequence, type: EXCEPTION_TYPE, structure, headers: NO_HEADERS };
    const bytes = writeMessage({ ...message, ...found });
    if (type === ONE_WAY) this.#end();
    else this.#answer(bytes);
    this.#server.count(index.downstream_response_drain_close);
    this.#connection.closeAfterWrites();
  }

  #answer(bytes: Buffer): void {
    const { loop } = this.#server.parts;
    this.#server.record(index.request_time_ms, Math.round(loop.clock.ms - this.#startedMs));
    this.#end();
    this.#connection.answer(bytes);
  }

  #end(): void {
    this.#isOver = true;
    this.#server.subtract(index.request_active, 1);
    this.#connection.finished(this);
  }

  #countUpstream(name: string): void {
    const prefix = this.#cluster?.stats.prefix;
    if (prefix !== undefined) this.#server.clusterCounts.count(prefix, name);
  }
}

/** An answer without fields, or whose first one is the result. */
function succeeds(body: ThriftReader): boolean {
  body.beginStruct();
  const first = body.field();
  return first === undefined || first.id === 0;
}

function hostOf(
  cluster: UpstreamCluster,
  headers: HeaderMap,
  info: StreamInfo,
  subset: Struct | undefined,
): UpstreamHost | undefined {
  const wanted = info.dynamicMetadata?.get('envoy.lb');
  return cluster.chooseHost({
    requestHeaders: headers,
    maxHostDraws: 0,
    refusesHost: () => false,
    computeHash: () => undefined,
    subset: wanted === undefined ? subset : joined(subset, wanted),
    dynamicMetadata: info.dynamicMetadata,
  });
}

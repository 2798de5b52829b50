/** Runs a filter without sockets: the code of workers, with a test at both of its ends. */
import { randomUUID } from 'node:crypto';
import { definedFilter, type Connection } from '../../shared/scripts/filter.ts';
import { makeScriptFilter } from '../../workers/filters/http/script/script-filter.ts';
import type { Address, ConnectionInfo } from '../../workers/net/connection-info.ts';
import type { ResolvedRoute } from '../../workers/stream/route.ts';
import { StreamInfo } from '../../workers/stream/stream-info.ts';
import { filterSettings, makeWorker, statPrefix } from './tested-context.ts';
import { requestMessage } from './tested-messages.ts';
import { TestedStream } from './tested-stream.ts';
import type * as api from './testing-api.ts';

export const testFilter: typeof api.testFilter = async (given, options = {}) => {
  const definition = definedFilter(given);
  if (definition === undefined) throw new TypeError('it is not made by defineFilter()');
  const { name = 'test' } = options;
  const worker = makeWorker(definition, options);
  const factory = makeScriptFilter(filterSettings(name, options), worker.context);
  await worker.ready();
  const connection = connectionInfo(options.connection ?? {});
  const prefix = statPrefix(name);
  return {
    send: async (request = {}) => {
      const message = requestMessage(request);
      const { clock } = worker.loop;
      clock.refresh();
      const info = new StreamInfo(connection, clock.ms, clock.wallMs);
      info.requestHeaders = message.headers;
      info.protocol = 'HTTP/1.1';
      info.requestId = randomUUID();
      const stream = new TestedStream({
        loop: worker.loop,
        factory,
        info,
        route: routeOf(options.route ?? {}),
        bufferLimitBytes: worker.context.bufferLimitBytes,
        upstream: options.upstream ?? (() => undefined),
      });
      void stream.send(message);
      return await stream.result;
    },
    stat: (stat) => worker.stats.read(prefix + stat),
    histogram: (stat) => worker.stats.recorded(prefix + stat),
    log: worker.log,
    close: () => worker.close(),
  };
};

function connectionInfo(given: Partial<Connection>): ConnectionInfo {
  const remote = addressOf(given.remoteAddress ?? '127.0.0.1:50000');
  return {
    id: given.id ?? 1,
    remoteAddress: remote,
    directRemoteAddress: remote,
    localAddress: addressOf(given.localAddress ?? '127.0.0.1:80'),
    listenerName: given.listener ?? 'test',
    direction: 'UNSPECIFIED',
    filterChainName: '',
    requestedServerName: given.serverName ?? '',
    tls: given.tls && tlsOf(given.tls),
    terminationDetails: '',
    transportFailureReason: '',
  };
}

function addressOf(text: string): Address {
  const colon = text.lastIndexOf(':');
  if (colon < 0) return { kind: 'pipe', ip: text, port: 0, text };
  const ip = text.slice(0, colon).replace(/^\[|\]$/g, '');
  return { kind: 'ip', ip, port: Number(text.slice(colon + 1)), text };
}

function tlsOf({
  version,
  cipherSuite,
  alpn,
  peer,
  isPeerVerified,
}: NonNullable<Connection['tls']>) {
  return {
    version,
    cipherSuite,
    alpn,
    isPeerVerified,
    sessionId: '',
    group: undefined,
    local: undefined,
    peer: peer && {
      ...peer,
      fingerprint1: '',
      fingerprint256: peer.fingerprint,
      uriSans: peer.uris,
      dnsSans: peer.dnsNames,
      ipSans: [],
      emailSans: [],
      validFromMs: Number.NaN,
      validToMs: Number.NaN,
      issuedBy: undefined,
    },
  };
}

/** What a filter can read of one. */
function routeOf({
  name = '',
  virtualHost = 'test',
  cluster = 'upstream',
  metadata = {},
}: api.TestedRoute) {
  return {
    kind: 'cluster',
    routeName: name,
    virtualHost: { name: virtualHost },
    clusterName: cluster,
    metadata,
  } as unknown as ResolvedRoute;
}

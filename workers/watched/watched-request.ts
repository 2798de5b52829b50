/** The way of one watched request, line by line; a trace that is there as well hears the same. */
import { isSecretHeader, REDACTED } from '../../shared/text/secret-names.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { AttemptTarget, AttemptTrace, RequestTrace } from '../stream/request-trace.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** The limit of a message's fields. */
const FIELDS_MAX = 100;
const VALUE_MAX = 200;

type Write = (line: string) => void;

export class WatchedRequest implements RequestTrace {
  readonly traceId: string;
  readonly isSampled: boolean;
  readonly spanId: string;
  readonly #trace: RequestTrace | undefined;
  readonly #write: Write;

  constructor(headers: HeaderMap, info: StreamInfo, trace: RequestTrace | undefined, write: Write) {
    this.traceId = trace?.traceId ?? '';
    this.isSampled = trace?.isSampled === true;
    this.spanId = trace?.spanId ?? '';
    this.#trace = trace;
    const { connection, requestId } = info;
    const traced = this.traceId === '' ? '' : ` trace ${this.traceId}`;
    const head = `[C${connection.id}][${requestId === '' ? '-' : requestId}]`;
    this.#write = (line) => write(`${head} ${line}`);
    const client = info.downstreamRemoteAddress.text;
    this.#write(
      `request of ${client} at listener ${connection.listenerName}${traced}: ${fieldsOf(headers)}`,
    );
    const { route, routeName, virtualHostName, upstreamCluster } = info;
    this.#write(
      route === undefined
        ? 'no route fits'
        : `route ${shown(routeName)} of virtual host ${shown(virtualHostName)}, ${upstreamCluster === '' ? route.kind : `cluster ${upstreamCluster}`}`,
    );
  }

  beginAttempt(headers: HeaderMap, target: AttemptTarget): AttemptTrace {
    const inner = this.#trace?.beginAttempt(headers, target);
    const write = this.#write;
    const head = `attempt ${target.attempt}`;
    write(`${head}: cluster ${target.clusterName}, host ${target.host.id}: ${fieldsOf(headers)}`);
    return {
      answered(answer) {
        write(`${head}: the host answers: ${fieldsOf(answer)}`);
        inner?.answered(answer);
      },
      trailed: (trailers) => inner?.trailed(trailers),
      failed(reason) {
        write(`${head}: failed: ${reason}`);
        inner?.failed(reason);
      },
      cancelled() {
        write(`${head}: given up here`);
        inner?.cancelled();
      },
      end: (info, flags) => inner?.end(info, flags),
    };
  }

  onResponse(headers: HeaderMap): void {
    this.#trace?.onResponse(headers);
    this.#write(`response: ${fieldsOf(headers)}`);
  }

  end(info: StreamInfo): void {
    this.#trace?.end(info);
    const { responseCode, responseCodeDetails: details, bytesReceived, bytesSent } = info;
    const tookMs = (info.endMs - info.startMs).toFixed(1);
    this.#write(
      `end: ${responseCode} ${shown(details)}, ${bytesReceived} bytes in, ${bytesSent} bytes out, ${info.attemptCount} attempts, ${tookMs} ms`,
    );
  }
}

function shown(name: string): string {
  return name === '' ? '-' : name;
}

/** In one line, whatever they hold. */
function fieldsOf(headers: HeaderMap): string {
  const fields: string[] = [];
  const add = (name: string, value: string): void => {
    if (fields.length >= FIELDS_MAX) return;
    const kept = isSecretHeader(name) ? REDACTED : value.slice(0, VALUE_MAX);
    fields.push(`${name}=${JSON.stringify(kept)}`);
  };
  const { method, path, authority, status } = headers;
  if (method !== '')
    fields.push(method, JSON.stringify(`${authority}${path.split('?', 1)[0] ?? ''}`));
  if (status > 0) fields.push(String(status));
  headers.forEach(add);
  return fields.join(' ');
}

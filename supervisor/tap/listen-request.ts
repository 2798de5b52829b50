/**
 * What a client of `/tap/listen` asks for, as a tap: the same configuration that `/tap` takes, made
 * from single conditions.
 */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import type { TapListenOrder } from '../../shared/resources/tap.ts';
import type { TapRequest } from './tap-sessions.ts';

interface ListenConditions {
  readonly path?: string | undefined;
  readonly host?: string | undefined;
  readonly method?: string | undefined;
  /** Such as 404 or 5xx. */
  readonly status?: string | undefined;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** A MatchPredicate of the API, as JSON or YAML. */
  readonly match?: string | undefined;
}

export interface ListenQuestion extends ListenConditions {
  readonly order: TapListenOrder;
  readonly maxRecords: number;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
}

const ID = 'listen';

/** The body of a TapRequest that means the same; throws where `match` is no JSON. */
export function tapRequestText(question: ListenQuestion): string {
  const isOfConnections = question.order.of === 'connections';
  const config: JsonObject = {
    match: isOfConnections ? { any_match: true } : matchOf(question),
    output_config: {
      sinks: [{ format: 'JSON_BODY_AS_BYTES', streaming_admin: {} }],
      max_buffered_rx_bytes: question.maxBodyBytes,
      max_buffered_tx_bytes: question.maxBodyBytes,
      streaming: isOfConnections,
    },
  };
  return JSON.stringify({ config_id: ID, tap_config: config });
}

/** The request that was read from that text, which listens in place of a filter. */
export function listening(read: TapRequest, question: ListenQuestion): TapRequest {
  const { order, maxRecords, timeoutMs } = question;
  return { ...read, listen: { order, maxTraces: maxRecords, timeoutMs } };
}

function matchOf({ path, host, method, status, headers, match }: ListenConditions): JsonValue {
  const request = (name: string, condition: JsonObject): JsonObject => ({
    http_request_headers_match: { headers: [{ name, string_match: condition }] },
  });
  const rules: JsonValue[] = headers.map(({ name, value }) => request(name, { exact: value }));
  if (method !== undefined) rules.push(request(':method', { exact: method }));
  if (path !== undefined) rules.push(pathRule(path, request));
  // A port may follow.
  if (host !== undefined) {
    rules.push(
      anyOf([
        request(':authority', { exact: host }),
        request(':authority', { prefix: `${host}:` }),
      ]),
    );
  }
  if (status !== undefined) {
    const condition = /^[1-5]xx$/.test(status) ? { prefix: status.charAt(0) } : { exact: status };
    rules.push({
      http_response_headers_match: { headers: [{ name: ':status', string_match: condition }] },
    });
  }
  if (match !== undefined) rules.push(JSON.parse(match) as JsonValue);
  const [only = { any_match: true }] = rules;
  return rules.length < 2 ? only : { and_match: { rules } };
}

/** A star at the end means whatever follows; a query may follow in any case. */
function pathRule(
  path: string,
  request: (name: string, condition: JsonObject) => JsonObject,
): JsonObject {
  if (path.endsWith('*')) return request(':path', { prefix: path.slice(0, -1) });
  return anyOf([request(':path', { exact: path }), request(':path', { prefix: `${path}?` })]);
}

function anyOf(rules: JsonValue[]): JsonObject {
  return { or_match: { rules } };
}

/** Requests of modules to clusters: through the upstream client, as those of clients. */
import {
  FetchError,
  type Fetch,
  type FetchOptions,
  type FetchResponse,
  type Headers,
} from '../../../../shared/scripts/filter.ts';
import type { Endable } from '../../../../shared/process/exceptions.ts';
import type { ConnectionInfo } from '../../../net/connection-info.ts';
import { compileRetryPolicy } from '../../../routing/retry-policy.ts';
import { HttpCall, type HttpResponse } from '../../../services/http-call.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import type { CompiledRetryPolicy } from '../../../stream/route.ts';
import type { FilterContext } from '../../filter-context.ts';
import { addFields, ScriptHeaders } from './script-headers.ts';

const TIMEOUT_MS = 15_000;
const RETRIES_MAX = 10;
/** The limit of one response's body. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
const REQUEST_BYTES_MAX = 16 * 1024 * 1024;
/** The limit of calls of one module's filter that are on their way, streams' and others. */
const CALLS_MAX = 1_000;
const BACK_OFF_BASE_MS = 25;
const BACK_OFF_MAX_MS = 250;

type CallSurroundings = Pick<FilterContext, 'loop' | 'services'>;

/** Under way for one stream, or for a module itself. */
export class ScriptCalls {
  readonly #context: CallSurroundings;
  readonly #budget: CallBudget;
  readonly #owner: Endable | undefined;
  readonly #connection: ConnectionInfo | undefined;
  readonly #open = new Map<HttpCall, (error: FetchError) => void>();

  constructor(
    context: CallSurroundings,
    budget: CallBudget,
    of?: { readonly owner: Endable; readonly connection: ConnectionInfo },
  ) {
    this.#context = context;
    this.#budget = budget;
    this.#owner = of?.owner;
    this.#connection = of?.connection;
  }

  readonly fetch: Fetch = async (cluster, options = {}) => {
    if (!this.#budget.take()) throw new FetchError('too many requests are on their way', 503);
    try {
      return await this.#send(cluster, options);
    } finally {
      this.#budget.give();
    }
  };

  /** Nobody waits any more. */
  end(): void {
    for (const [call, reject] of this.#open) {
      call.cancel();
      reject(new FetchError('the stream is over', 499));
    }
    this.#open.clear();
  }

  #send(cluster: string, options: FetchOptions): Promise<FetchResponse> {
    const request = {
      cluster,
      ...messageOf(cluster, options),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retryPolicy: this.#budget.retries(options.retries ?? 0),
      connection: this.#connection,
      tellsAddress: true,
      responseBytesMax: RESPONSE_BYTES_MAX,
    };
    return new Promise((resolve, reject) => {
      // What a promise waited for runs outside of the loop's events.
      this.#context.loop.run(this.#owner, () => {
        let call: HttpCall | undefined;
        let isOver = false;
        const over = (): void => {
          isOver = true;
          if (call !== undefined) this.#open.delete(call);
        };
        call = HttpCall.start(this.#context.services, request, {
          onResponse: (response) => {
            over();
            resolve(responseOf(response));
          },
          onFailure: ({ status, details }) => {
            over();
            reject(new FetchError(`${cluster}: ${details}`, status));
          },
          onException: () => {
            over();
            reject(new FetchError(`${cluster}: internal error`, 500));
          },
        });
        if (!isOver) this.#open.set(call, reject);
      });
    });
  }
}

/** How many requests one filter has on their way, and the policies of their retries. */
export class CallBudget {
  readonly #policies = new Map<number, CompiledRetryPolicy>();
  #open = 0;

  take(): boolean {
    if (this.#open >= CALLS_MAX) return false;
    this.#open++;
    return true;
  }

  give(): void {
    this.#open--;
  }

  retries(wanted: number): CompiledRetryPolicy | undefined {
    const count = Math.min(Math.floor(wanted), RETRIES_MAX);
    if (!(count > 0)) return undefined;
    let policy = this.#policies.get(count);
    if (policy === undefined) {
      policy = compileRetryPolicy({
        retryOn: ['5xx'],
        numRetries: count,
        retriableStatusCodes: [],
        retriableHeaders: [],
        retriableRequestHeaders: [],
        backOffBaseMs: BACK_OFF_BASE_MS,
        backOffMaxMs: BACK_OFF_MAX_MS,
        hostPredicates: [],
        hostSelectionRetryMaxAttempts: 1,
      });
      this.#policies.set(count, policy);
    }
    return policy;
  }
}

function messageOf(
  cluster: string,
  { method, path, authority, headers: fields, body }: FetchOptions,
): { readonly headers: HeaderMap; readonly body: Buffer | undefined } {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  if (bytes !== undefined && bytes.length > REQUEST_BYTES_MAX) {
    throw new FetchError('the body is too large', 413);
  }
  const headers = new HeaderMap();
  headers.method = method ?? (bytes === undefined ? 'GET' : 'POST');
  headers.path = path ?? '/';
  headers.authority = authority ?? cluster;
  headers.scheme = 'http';
  addFields(headers, fields);
  if (bytes !== undefined) headers.add('content-length', String(bytes.length));
  return { headers, body: bytes };
}

function responseOf({ headers, body }: HttpResponse): FetchResponse {
  return new Fetched(headers, body);
}

class Fetched implements FetchResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;

  constructor(headers: HeaderMap, body: Buffer) {
    this.status = headers.status;
    this.headers = new ScriptHeaders(headers);
    this.body = body;
  }

  text(): string {
    return this.body.toString();
  }

  json(): unknown {
    return JSON.parse(this.text()) as unknown;
  }
}

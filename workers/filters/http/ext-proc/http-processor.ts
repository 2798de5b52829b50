/** A processor that is asked by HTTP: each message is a request of its own, in JSON. */
import type { ProcessorService } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { compileHeaderMutations } from '../../../routing/header-mutations.ts';
import { JOINED_IN_REQUESTS } from '../../../stream/joined-headers.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { HttpCall, type HttpResponse } from '../../../services/http-call.ts';
import type { ServiceClient } from '../../../services/service-client.ts';
import { readJsonAnswer } from './json-answer.ts';
import type { ProcessingRequest } from './messages.ts';
import { processingRequestJson } from './processing-request.ts';
import type { ProcessorCall, ProcessorCallbacks } from './processor.ts';

type HttpService = Extract<ProcessorService, { readonly kind: 'http' }>;

const OK = 200;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const UNKNOWN_CLUSTER = 'cluster_not_found';
const FAILED = 'ext_proc_error_HTTP_ERROR';

export class HttpProcessor {
  readonly #service: HttpService;
  readonly #client: ServiceClient;
  readonly #addHeaders: ReturnType<typeof compileHeaderMutations>;

  constructor(service: HttpService, client: ServiceClient) {
    this.#service = service;
    this.#client = client;
    const changes = [{ add: service.headers, remove: [] }];
    this.#addHeaders = compileHeaderMutations(changes, JOINED_IN_REQUESTS);
  }

  open(info: StreamInfo, owner: ProcessorCallbacks): ProcessorCall {
    return new HttpProcessorCall((message) => this.#ask(message, info, owner));
  }

  #ask(message: ProcessingRequest, info: StreamInfo, owner: ProcessorCallbacks): HttpCall {
    const { target } = this.#service;
    const headers = new HeaderMap();
    headers.method = 'POST';
    headers.path = target.path;
    headers.authority = target.authority;
    headers.scheme = target.scheme;
    headers.add('content-type', 'application/json');
    this.#addHeaders?.(headers, info);
    const request = {
      cluster: target.cluster,
      headers,
      body: Buffer.from(processingRequestJson(message)),
      timeoutMs: target.timeoutMs,
      connection: info.connection,
      tellsAddress: false,
      tellsInternal: false,
      responseBytesMax: ANSWER_BYTES_MAX,
    };
    return HttpCall.start(this.#client, request, {
      onResponse: (response) => onResponse(response, owner),
      onFailure: ({ details }) => {
        // As in Envoy, where no such cluster is there the answer's time runs out.
        if (details !== UNKNOWN_CLUSTER) owner.onProcessorError(FAILED, false);
      },
      onException: () => owner.onException(),
    });
  }
}

function onResponse({ headers, body }: HttpResponse, owner: ProcessorCallbacks): void {
  const answer = headers.status === OK ? readJsonAnswer(body) : undefined;
  if (answer === undefined) owner.onProcessorError(FAILED, false);
  else owner.onAnswer(answer);
}

class HttpProcessorCall implements ProcessorCall {
  readonly isCongested = false;
  readonly #ask: (message: ProcessingRequest) => HttpCall;
  readonly #asked = new Set<HttpCall>();

  constructor(ask: (message: ProcessingRequest) => HttpCall) {
    this.#ask = ask;
  }

  send(message: ProcessingRequest): void {
    this.#asked.add(this.#ask(message));
  }

  pause(): void {
    // An answer is bounded, and there is one for each message.
  }

  close(): void {
    for (const call of this.#asked) call.cancel();
    this.#asked.clear();
  }
}

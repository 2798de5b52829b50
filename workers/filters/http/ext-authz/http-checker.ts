/** Asks an authorization service by HTTP: 200 allows, 5xx is no answer, all else denies. */
import type {
  AuthzHttpService,
  ExtAuthzOptions,
} from '../../../../shared/resources/filters/http/ext-authz.ts';
import { dictionary, type Struct } from '../../../../shared/text/dictionary.ts';
import { compileHeaderMutations } from '../../../routing/header-mutations.ts';
import { compileRetryPolicy } from '../../../routing/retry-policy.ts';
import { HttpCall, type HttpResponse } from '../../../services/http-call.ts';
import type { ServiceClient } from '../../../services/service-client.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { JOINED_IN_REQUESTS } from '../../../stream/joined-headers.ts';
import { repairUtf8 } from '../../../tap/repair-utf8.ts';
import {
  type Allowed,
  type CheckedRequest,
  type Checker,
  CHECK_FAILED,
  type CheckOutcome,
  type Denied,
  type HeaderPair,
  NO_RESPONSE_EDITS,
} from './check.ts';
import { type NamePredicate, matcherOf, visitAsked } from './asked-headers.ts';

/** The limit of an answer's body; what is larger is no answer. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const REMOVED = 'x-envoy-auth-headers-to-remove';
/** The headers of a check's request, whatever is allowed. */
const ALWAYS_ASKED: ReadonlySet<string> = new Set(['authorization']);
/** The headers of a denial, whatever is allowed. */
const ALWAYS_TOLD: ReadonlySet<string> = new Set([
  'content-length',
  'location',
  'proxy-authenticate',
  'www-authenticate',
]);
/** They are about the connection to the service. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

interface AnswerMatchers {
  readonly upstream: NamePredicate;
  readonly append: NamePredicate;
  readonly client: NamePredicate | undefined;
  readonly clientOnSuccess: NamePredicate;
  readonly metadata: NamePredicate;
}

export function makeHttpChecker(
  service: AuthzHttpService,
  options: ExtAuthzOptions,
  client: ServiceClient,
): Checker {
  const add = compileHeaderMutations(
    [{ add: service.headersToAdd, remove: [] }],
    JOINED_IN_REQUESTS,
  );
  const allowed = matcherOf(options.allowedHeaders ?? []);
  const disallowed = matcherOf(options.disallowedHeaders);
  const asks: NamePredicate = (name) =>
    (ALWAYS_ASKED.has(name) || allowed(name)) && !disallowed(name);
  const matchers: AnswerMatchers = {
    upstream: matcherOf(service.upstreamHeaders),
    append: matcherOf(service.upstreamHeadersToAppend),
    client: service.clientHeaders.length === 0 ? undefined : matcherOf(service.clientHeaders),
    clientOnSuccess: matcherOf(service.clientHeadersOnSuccess),
    metadata: matcherOf(service.metadataHeaders),
  };
  const retryPolicy = service.retryPolicy && compileRetryPolicy(service.retryPolicy);
  return {
    check: (request, owner) => {
      const { headers, body } = makeRequest(request, service, options, asks);
      add?.(headers, request.info);
      const call = {
        cluster: service.cluster,
        headers,
        body,
        timeoutMs: service.timeoutMs,
        connection: request.info.connection,
        tellsAddress: false,
        retryPolicy,
        responseBytesMax: ANSWER_BYTES_MAX,
      };
      return HttpCall.start(client, call, {
        onResponse: (response) => owner.onOutcome(outcomeOf(response, matchers)),
        onFailure: () => owner.onOutcome(CHECK_FAILED),
        onException: () => owner.onException(),
      });
    },
  };
}

function makeRequest(
  request: CheckedRequest,
  { pathPrefix, pathOverride }: AuthzHttpService,
  { sendsRawHeaders }: ExtAuthzOptions,
  asks: NamePredicate,
): { readonly headers: HeaderMap; readonly body: Buffer | undefined } {
  const { headers: asked } = request;
  const headers = new HeaderMap();
  headers.method = asked.method;
  headers.path = pathOverride === '' ? pathPrefix + asked.path : pathOverride;
  headers.authority = asked.authority;
  headers.scheme = asked.scheme;
  const body = bodyOf(request);
  headers.add('content-length', String(body?.length ?? 0));
  visitAsked(asked, asks, sendsRawHeaders, (name, value) => {
    if (name !== 'content-length' && !HOP_BY_HOP.has(name)) headers.add(name, value);
  });
  if (request.body !== undefined) {
    headers.set('x-envoy-auth-partial-body', String(request.body.isPartial));
  }
  return { headers, body };
}

/** Bytes are for gRPC services: here a body that is given as bytes is none. */
function bodyOf({ body }: CheckedRequest): Buffer | undefined {
  if (body === undefined || body.asBytes || body.bytes.length === 0) return undefined;
  return Buffer.from(repairUtf8(body.bytes.toString('latin1'), '!'), 'latin1');
}

function outcomeOf({ headers, body }: HttpResponse, matchers: AnswerMatchers): CheckOutcome {
  const { status } = headers;
  if (status >= 500) return CHECK_FAILED;
  return status === 200 ? allowedBy(headers, matchers) : deniedBy(headers, body, matchers);
}

function allowedBy(headers: HeaderMap, matchers: AnswerMatchers): Allowed {
  const set: HeaderPair[] = [];
  const add: HeaderPair[] = [];
  const toClient: HeaderPair[] = [];
  const remove: string[] = [];
  headers.forEach((name, value) => {
    if (name === REMOVED) {
      remove.push(...namesIn(value));
      return;
    }
    if (matchers.upstream(name)) set.push([name, value]);
    if (matchers.append(name)) add.push([name, value]);
    if (matchers.clientOnSuccess(name)) toClient.push([name, value]);
  });
  return {
    kind: 'ok',
    set,
    add,
    append: [],
    remove,
    queryToSet: [],
    queryToRemove: [],
    response: toClient.length === 0 ? NO_RESPONSE_EDITS : { ...NO_RESPONSE_EDITS, add: toClient },
    metadata: metadataIn(headers, matchers),
  };
}

function deniedBy(headers: HeaderMap, body: Buffer, matchers: AnswerMatchers): Denied {
  const { client } = matchers;
  const told: HeaderPair[] = [];
  headers.forEach((name, value) => {
    if (name === REMOVED || HOP_BY_HOP.has(name)) return;
    if (client === undefined || ALWAYS_TOLD.has(name) || client(name)) told.push([name, value]);
  });
  return {
    kind: 'denied',
    status: headers.status,
    body: body.toString('latin1'),
    headers: told,
    metadata: metadataIn(headers, matchers),
  };
}

function metadataIn(headers: HeaderMap, { metadata }: AnswerMatchers): Struct | undefined {
  let found: ReturnType<typeof dictionary<string>> | undefined;
  headers.forEach((name, value) => {
    if (metadata(name)) (found ??= dictionary<string>())[name] = textOf(value);
  });
  return found;
}

/** Texts of metadata are UTF-8. */
function textOf(value: string): string {
  return Buffer.from(repairUtf8(value, '!'), 'latin1').toString('utf8');
}

function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

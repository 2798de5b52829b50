/**
 * Changes messages by what their JSON bodies say: headers first, then the body itself. Source:
 * envoy.filters.http.transform.
 */
import { parseNested } from '../../../shared/json/parse-nested.ts';
import { dictionary, joined, structOf, type Struct } from '../../../shared/text/dictionary.ts';
import {
  TRANSFORM,
  type Transformation,
  type TransformFilterSettings,
  type TransformOptions,
} from '../../../shared/resources/filters/http/matching/transform.ts';
import type { HeaderMutation } from '../../routing/header-mutations.ts';
import { compileHeaderRules } from '../../routing/header-rules.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../../stream/joined-headers.ts';
import { bodiesOf } from '../../substitution/body-readers.ts';
import { compileLineFormat, type Formatter } from '../../substitution/compile-format.ts';
import { KeptBody, refuseLargeRequest, refuseLargeResponse } from '../common/kept-body.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

interface CompiledTransformation {
  readonly headers: HeaderMutation | undefined;
  readonly format: Formatter | undefined;
  readonly isMerged: boolean;
}

interface TransformParts {
  readonly request: CompiledTransformation | undefined;
  readonly response: CompiledTransformation | undefined;
  readonly clearsRoute: boolean;
  readonly context: FilterContext;
  readonly count: (stat: keyof typeof TRANSFORM.index) => void;
}

const JSON_TYPE = 'application/json';

export function makeTransformFilter(
  { name, options }: TransformFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, statScope } = context;
  const base = stats.defineBlock(TRANSFORM, `${statScope}.http_transform.`);
  context.onBlock(base);
  const compiled = new CompiledSettings((settings: TransformOptions): TransformParts => ({
    request: compile(settings.request, JOINED_IN_REQUESTS),
    response: compile(settings.response, JOINED_IN_RESPONSES),
    clearsRoute: settings.clearsRoute,
    context,
    count: (stat) => stats.increment(base + TRANSFORM.index[stat]),
  }));
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as TransformOptions | undefined;
      return new TransformFilter(compiled.of(ofRoute ?? options), callbacks);
    },
  };
}

function compile(
  settings: Transformation | undefined,
  joined: ReadonlySet<string>,
): CompiledTransformation | undefined {
  if (settings === undefined) return undefined;
  const { headers, body } = settings;
  return {
    headers: compileHeaderRules(headers, joined),
    format: body && compileLineFormat(body.format),
    isMerged: body?.isMerged ?? false,
  };
}

/** A message that waits for the whole of its body. */
interface Waiting {
  readonly headers: HeaderMap;
  readonly body: KeptBody;
}

class TransformFilter extends PassThroughFilter {
  readonly #parts: TransformParts;
  readonly #callbacks: FilterCallbacks;
  #request: Waiting | undefined = undefined;
  #response: Waiting | undefined = undefined;

  constructor(parts: TransformParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (this.#parts.request === undefined || endStream || !isJson(headers)) return 'continue';
    this.#request = { headers, body: new KeptBody(this.#parts.context) };
    return 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#request === undefined) return 'continue';
    if (!this.#request.body.add(data)) {
      refuseLargeRequest(this.#parts.context, this.#callbacks);
      return 'stop';
    }
    if (!endStream) return 'stop';
    this.#passRequest(this.#request, true);
    return 'taken';
  }

  override decodeTrailers(): TrailersStatus {
    if (this.#request !== undefined) this.#passRequest(this.#request, false);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    // An answer made here may take the place of one that was kept.
    this.#dropResponse();
    if (this.#parts.response === undefined || endStream || !isJson(headers)) return 'continue';
    this.#response = { headers, body: new KeptBody(this.#parts.context) };
    return 'stop';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#response === undefined) return 'continue';
    if (!this.#response.body.add(data)) {
      this.#dropResponse();
      refuseLargeResponse(this.#parts.context, this.#callbacks);
      return 'taken';
    }
    if (!endStream) return 'stop';
    this.#passResponse(this.#response, true);
    return 'taken';
  }

  override encodeTrailers(): TrailersStatus {
    if (this.#response !== undefined) this.#passResponse(this.#response, false);
    return 'continue';
  }

  override onDestroy(): void {
    this.#request?.body.drop();
    this.#dropResponse();
  }

  #passRequest({ headers, body }: Waiting, endStream: boolean): void {
    this.#request = undefined;
    const { request, clearsRoute, count } = this.#parts;
    const bytes = body.take();
    const said = parseObject(bytes);
    let sent = bytes;
    if (said !== undefined && request !== undefined) {
      bodiesOf(this.#callbacks.info).request = said;
      sent = this.#transform(request, headers, said) ?? bytes;
      count('rq_transformed');
      if (clearsRoute) this.#callbacks.clearRoute();
    }
    this.#callbacks.continueDecoding();
    this.#callbacks.injectRequestData(sent, endStream);
  }

  #passResponse({ headers, body }: Waiting, endStream: boolean): void {
    this.#response = undefined;
    const { response, count } = this.#parts;
    const bytes = body.take();
    const said = parseObject(bytes);
    let sent = bytes;
    if (said !== undefined && response !== undefined) {
      const { info } = this.#callbacks;
      bodiesOf(info).response = said;
      info.responseHeaders = headers;
      sent = this.#transform(response, headers, said) ?? bytes;
      count('rs_transformed');
    }
    this.#callbacks.continueEncoding();
    this.#callbacks.injectResponseData(sent, endStream);
  }

  /** Undefined: the body stays as it was. */
  #transform(
    { headers: change, format, isMerged }: CompiledTransformation,
    headers: HeaderMap,
    said: Struct,
  ): Buffer | undefined {
    const { info } = this.#callbacks;
    change?.(headers, info);
    if (format === undefined) return undefined;
    const text = Buffer.from(format(info), 'latin1');
    const made = isMerged ? merged(said, text) : text;
    if (made !== undefined) headers.remove('content-length');
    return made;
  }

  #dropResponse(): void {
    this.#response?.body.drop();
    this.#response = undefined;
  }
}

function isJson(headers: HeaderMap): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith(JSON_TYPE) ?? false;
}

function parseObject(bytes: Buffer): Struct | undefined {
  try {
    const said = parseNested(bytes.toString());
    const isObject = typeof said === 'object' && said !== null && !Array.isArray(said);
    return isObject ? structOf(said) : undefined;
  } catch {
    return undefined;
  }
}

function merged(said: Struct, text: Buffer): Buffer | undefined {
  const added = parseObject(text);
  if (added === undefined) return undefined;
  return Buffer.from(JSON.stringify(inOrder(joined(said, added))));
}

/** Members in the order of their names, as Envoy writes them. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return dictionary(members.map(([name, member]) => [name, inOrder(member)]));
}

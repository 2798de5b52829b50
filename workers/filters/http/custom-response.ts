/**
 * Sends an answer of the configuration in place of responses that a tree of matchers chooses, those
 * that were made here too. Source: envoy.filters.http.custom_response.
 */
import { KindTable } from '../../../shared/resources/by-kind.ts';
import type {
  CustomAnswer,
  CustomResponseFilterSettings,
  CustomResponseOptions,
} from '../../../shared/resources/filters/http/matching/custom-response.ts';
import { compileMatcherTree, type TreeMatcher } from '../../matching/matcher-tree.ts';
import { compileHeaderMutations, type HeaderMutation } from '../../routing/header-mutations.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../stream/filter.ts';
import { HeaderMap } from '../../stream/header-map.ts';
import { JOINED_IN_RESPONSES } from '../../stream/joined-headers.ts';
import { compileLineFormat, type Formatter } from '../../substitution/compile-format.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

interface CompiledAnswer {
  readonly answer: CustomAnswer;
  readonly changeHeaders: HeaderMutation | undefined;
  readonly writeBody: Formatter | undefined;
}

type Matcher = TreeMatcher<CompiledAnswer>;

interface CustomResponseParts {
  readonly name: string;
  readonly own: Matcher | undefined;
  readonly compiled: CompiledSettings<CustomResponseOptions, Matcher | undefined>;
}

export function makeCustomResponseFilter(
  { name, options }: CustomResponseFilterSettings,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings(
    ({ tree }: CustomResponseOptions): Matcher | undefined =>
      tree && compileMatcherTree(tree, (answer) => ANSWERS.make(answer), context.runtime),
  );
  const parts = { name, own: compiled.of(options), compiled };
  return { name, create: (callbacks) => new CustomResponseFilter(parts, callbacks) };
}

const ANSWERS = new KindTable<CustomAnswer, [], CompiledAnswer>({
  local_response: (answer) => ({
    answer,
    changeHeaders: compileHeaderMutations(
      [{ add: answer.headers, remove: [] }],
      JOINED_IN_RESPONSES,
    ),
    writeBody: answer.format && compileLineFormat(answer.format.format),
  }),
});

class CustomResponseFilter extends PassThroughFilter {
  readonly #parts: CustomResponseParts;
  readonly #callbacks: FilterCallbacks;
  /** `answered`: what still comes belongs to the response that was replaced. */
  #state: 'watching' | 'answering' | 'answered' = 'watching';

  constructor(parts: CustomResponseParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    if (this.#state === 'answering') return 'continue';
    const found = this.#find(headers);
    if (found === undefined) return 'continue';
    this.#state = 'answering';
    this.#answer(found, headers);
    this.#state = 'answered';
    return 'stop';
  }

  override encodeData(): DataStatus {
    return this.#state === 'answered' ? 'taken' : 'continue';
  }

  override encodeTrailers(): TrailersStatus {
    return this.#state === 'answered' ? 'taken' : 'continue';
  }

  /** The most specific route that has something to say decides, the chain's own settings last. */
  #find(headers: HeaderMap): CompiledAnswer | undefined {
    const { info } = this.#callbacks;
    // Inputs read the response from the stream, which may not know it yet.
    info.responseHeaders = headers;
    info.responseCode = headers.status;
    const request = info.requestHeaders ?? new HeaderMap();
    const ofRoute = this.#callbacks.routeConfigs(
      this.#parts.name,
    ) as readonly CustomResponseOptions[];
    for (const settings of ofRoute) {
      const found = this.#parts.compiled.of(settings)?.(request, info);
      if (found !== undefined) return found;
    }
    return this.#parts.own?.(request, info);
  }

  #answer({ answer, changeHeaders, writeBody }: CompiledAnswer, headers: HeaderMap): void {
    const { info } = this.#callbacks;
    const status = answer.status ?? headers.status;
    const kept = answer.keepsDetails ? info.responseCodeDetails : '';
    info.localReplyBody = answer.body;
    const body = writeBody === undefined ? answer.body : writeBody(info);
    info.localReplyBody = '';
    this.#callbacks.sendLocalReply({
      status,
      body,
      details: answer.details ?? kept,
      contentType: answer.format?.contentType,
      replacesAnswer: true,
      modifyHeaders: (made) => changeHeaders?.(made, info),
    });
  }
}

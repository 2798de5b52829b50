/**
 * Sends an answer of the configuration, or that to another request, in place of responses that a
 * tree of matchers chooses, those that were made here too. Source: envoy.filters.http.custom_response.
 */
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import {
  CUSTOM_RESPONSE,
  type CustomAnswer,
  type LocalAnswer,
  type CustomResponseFilterSettings,
  type CustomResponseOptions,
} from '../../../../shared/resources/filters/http/matching/custom-response.ts';
import { compileMatcherTree, type TreeMatcher } from '../../../matching/matcher-tree.ts';
import { compileHeaderMutations, type HeaderMutation } from '../../../routing/header-mutations.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { JOINED_IN_RESPONSES } from '../../../stream/joined-headers.ts';
import { compileLineFormat, type Formatter } from '../../../substitution/compile-format.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import {
  changeReplacement,
  type CompiledRedirected,
  compileRedirected,
  type CountRedirect,
} from './redirected-answer.ts';

interface CompiledLocal {
  readonly kind: 'local_response';
  readonly answer: LocalAnswer;
  readonly changeHeaders: HeaderMutation | undefined;
  readonly writeBody: Formatter | undefined;
}

type CompiledAnswer = CompiledLocal | CompiledRedirected;
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
  const count = counterOf(context);
  const compiled = new CompiledSettings(
    ({ tree }: CustomResponseOptions): Matcher | undefined =>
      tree && compileMatcherTree(tree, (answer) => ANSWERS.make(answer, count), context.runtime),
  );
  const parts = { name, own: compiled.of(options), compiled };
  return { name, create: (callbacks) => new CustomResponseFilter(parts, callbacks) };
}

/** There are numbers as soon as a response may be replaced by that to another request. */
function counterOf(context: FilterContext): () => CountRedirect {
  let base: number | undefined;
  return () => {
    if (base === undefined) {
      base = context.stats.defineBlock(CUSTOM_RESPONSE, context.statScope);
      context.onBlock(base);
    }
    const first = base;
    return (stat) => context.stats.increment(first + CUSTOM_RESPONSE.index[stat]);
  };
}

const ANSWERS = new KindTable<CustomAnswer, [() => CountRedirect], CompiledAnswer>({
  redirect: (answer, counter) => compileRedirected(answer, counter()),
  local_response: (answer) => ({
    kind: 'local_response',
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
    if (this.#state === 'answering' || changeReplacement(headers, this.#callbacks.info)) {
      return 'continue';
    }
    const found = this.#find(headers);
    if (found === undefined) return 'continue';
    if (found.kind === 'redirect') {
      if (!found.redirect(headers, this.#callbacks)) return 'continue';
      this.#state = 'answered';
      return 'stop';
    }
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

  #answer({ answer, changeHeaders, writeBody }: CompiledLocal, headers: HeaderMap): void {
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

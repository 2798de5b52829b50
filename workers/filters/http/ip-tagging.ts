/** Tells upstream which named ranges the client's address is in. Source: envoy.filters.http.ip_tagging. */
import { compileIpRanges } from '../../../shared/addresses/ip-ranges.ts';
import {
  IP_TAG,
  IP_TAGGING,
  IP_TAGS_FILE,
  IP_UNTAGGED,
  type IpTag,
  type IpTaggingFilterSettings,
  type IpTaggingOptions,
} from '../../../shared/resources/filters/http/ip-tagging.ts';
import type { StatTemplate } from '../../../shared/stats/template.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

interface CompiledTag {
  readonly name: string;
  readonly contains: (ip: string) => boolean;
  readonly count: () => void;
}

interface TaggingParts {
  readonly options: IpTaggingOptions;
  /** Those of a watched file change. */
  tags: readonly CompiledTag[];
  readonly countRequest: () => void;
  readonly countUntagged: () => void;
}

export function makeIpTaggingFilter(
  { name, options }: IpTaggingFilterSettings,
  context: FilterContext,
): FilterFactory {
  const prefix = `${context.statScope}ip_tagging.`;
  const counters = new Map<string, () => void>();
  const counterOf = (tag: string): (() => void) => {
    const known = counters.get(tag);
    if (known !== undefined) return known;
    const made = lateCounter(context, IP_TAG, IP_TAG.index.hit, `${prefix}${tag}.`);
    counters.set(tag, made);
    return made;
  };
  const compile = (tags: readonly IpTag[]): CompiledTag[] =>
    tags.map(({ name: tag, ranges }) => ({
      name: tag,
      contains: compileIpRanges(ranges),
      count: counterOf(tag),
    }));
  const parts: TaggingParts = {
    options,
    tags: compile(options.tags),
    countRequest: lateCounter(context, IP_TAGGING, IP_TAGGING.index.total, prefix),
    countUntagged: lateCounter(context, IP_UNTAGGED, IP_UNTAGGED.index.no_hit, prefix),
  };
  const { laterTags: key } = options;
  if (key !== undefined) {
    const countReload = lateCounter(
      context,
      IP_TAGS_FILE,
      IP_TAGS_FILE.index.reload_success,
      prefix,
    );
    const take = (): void => {
      parts.tags = compile(laterTags(key, context) ?? options.tags);
    };
    take();
    const changed = (): void => {
      take();
      if (context.isFirstWorker) countReload();
    };
    context.onRelease(context.secrets.follow([key], changed));
  }
  return { name, create: (callbacks) => new IpTaggingFilter(parts, callbacks) };
}

/** Undefined until the file was replaced once. */
function laterTags(key: string, { secrets }: FilterContext): readonly IpTag[] | undefined {
  const present = secrets.get(key);
  if (present?.kind !== 'generic') return undefined;
  return JSON.parse(Buffer.from(present.value).toString()) as readonly IpTag[];
}

/** A counter that is not there before it has counted. */
function lateCounter(
  context: FilterContext,
  template: StatTemplate,
  index: number,
  prefix: string,
): () => void {
  let base: number | undefined;
  return () => {
    if (base === undefined) {
      base = context.stats.defineBlock(template, prefix);
      context.onBlock(base);
    }
    context.stats.increment(base + index);
  };
}

class IpTaggingFilter extends PassThroughFilter {
  readonly #parts: TaggingParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: TaggingParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { options, tags, countRequest, countUntagged } = this.#parts;
    const { info } = this.#callbacks;
    const { requests, header, appends, sanitizes } = options;
    if (requests !== 'BOTH' && info.isInternalRequest !== (requests === 'INTERNAL')) {
      return 'continue';
    }
    const { ip } = info.downstreamRemoteAddress;
    const fitting = tags.filter(({ contains }) => contains(ip));
    countRequest();
    if (fitting.length === 0) countUntagged();
    for (const tag of fitting) tag.count();
    if (sanitizes) headers.remove(header);
    if (fitting.length === 0) return 'continue';
    const text = fitting.map(({ name }) => name).join(',');
    if (appends) headers.append(header, text);
    else headers.set(header, text);
    this.#callbacks.clearRoute();
    return 'continue';
  }
}

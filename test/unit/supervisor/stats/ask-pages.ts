import { systemClock } from '../../../../shared/process/clock.ts';
import { parseQuery } from '../../../../supervisor/http-pages/query.ts';
import { type StatsQuestion } from '../../../../supervisor/stats-output/stats-questions.ts';
import {
  EndpointStats,
  type EndpointStatValues,
} from '../../../../supervisor/stats/endpoint-stats.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import type { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { DEFAULT_BUCKETS } from '../../../../supervisor/stats/stats-config.ts';
import { StatsPages } from '../../../../supervisor/stats-output/stats-pages.ts';
import { defaultTagRules } from '../../../../supervisor/stats/tags/default-tag-rules.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';
import { TagGroups } from '../../../../supervisor/stats/tags/tag-groups.ts';
import type { fixedTag } from '../../../../supervisor/stats/tags/tag-rule.ts';

/** Pages of statistics, and their whole texts. */

export const ask = (query: string, accept = ''): StatsQuestion => ({
  query: parseQuery(query),
  accept,
  acceptEncoding: '',
});

export function pagesOf(
  store: StatStore,
  custom = [] as ReturnType<typeof fixedTag>[],
  { isEcmaScript = false, hosts = [] as readonly EndpointStatValues[] } = {},
): StatsPages {
  const extractor = new TagExtractor([...defaultTagRules(), ...custom]);
  return new StatsPages({
    store,
    view: new OrderedView(store),
    tagGroups: new TagGroups(extractor, custom),
    endpoints: new EndpointStats(store, () => hosts, extractor.fixedTags),
    clock: systemClock,
    boundsOf: () => DEFAULT_BUCKETS,
    dashboardStream: undefined,
    isEcmaScriptFilter: () => isEcmaScript,
    beforeRead: async () => Promise.resolve(),
    htmlForm: (_query, listing) => ({ status: 200, contentType: 'text/html', body: listing }),
  });
}

export async function read(pages: StatsPages, path: string, query = ''): Promise<string> {
  const { body } = await pages.read(path, ask(query));
  if (typeof body === 'string') return body;
  let text = '';
  for await (const chunk of body as AsyncIterable<string>) text += chunk;
  return text;
}

/** Resolves envoy.extensions.filters.http.cdn_loop.v3.CdnLoopConfig. */
import type { CdnLoopConfig } from '../../../../shared/api/generated/envoy/extensions/filters/http/cdn_loop/v3/cdn_loop.ts';
import type { CdnLoopFilterSettings } from '../../../../shared/resources/filters/http/cdn-loop.ts';
import { CdnLoopError, checkCdnId } from '../../../../shared/text/cdn-loop.ts';
import type { Scope } from '../../scope.ts';
import { httpFilter } from '../http-filter-row.ts';

export const CDN_LOOP_FILTER = httpFilter(
  'envoy.filters.http.cdn_loop',
  'envoy.extensions.filters.http.cdn_loop.v3.CdnLoopConfig',
  (message: CdnLoopConfig, scope, name): CdnLoopFilterSettings => {
    const cdnId = message.cdn_id ?? '';
    reportWrongId(cdnId, scope);
    const allowedOccurrences = message.max_allowed_occurrences ?? 0;
    return { kind: 'cdn_loop', name, options: { cdnId, allowedOccurrences } };
  },
);

function reportWrongId(cdnId: string, scope: Scope): void {
  try {
    checkCdnId(cdnId);
  } catch (error) {
    if (!(error instanceof CdnLoopError)) throw error;
    const message = `Provided cdn_id "${cdnId}" is not a valid CDN identifier: ${error.message}`;
    scope.at('cdn_id').error('conflict', message);
  }
}

/** Resolves envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit. */
import type { BodySizeLimit } from '../../../../../shared/api/generated/envoy/extensions/filters/http/body_size_limit/v3/body_size_limit.ts';
import type { BodySizeLimitFilterSettings } from '../../../../../shared/resources/filters/http/limits/body-size-limit.ts';
import { optional } from '../../../values.ts';
import { httpFilter } from '../../http-filter-row.ts';

export const BODY_SIZE_LIMIT_FILTER = httpFilter(
  'envoy.filters.http.body_size_limit',
  'envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit',
  ({ max_request_bytes: limit }: BodySizeLimit, _scope, name): BodySizeLimitFilterSettings => ({
    kind: 'body_size_limit',
    name,
    options: { ...optional('maxRequestBytes', limit === undefined ? undefined : Number(limit)) },
  }),
);

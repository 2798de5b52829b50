/** Resolves envoy.extensions.filters.http.grpc_web.v3.GrpcWeb. */
import type { GrpcWebFilterSettings } from '../../../../../shared/resources/filters/http/grpc/grpc-web.ts';
import { httpFilter } from '../../http-filter-row.ts';

export const GRPC_WEB_FILTER = httpFilter(
  'envoy.filters.http.grpc_web',
  'envoy.extensions.filters.http.grpc_web.v3.GrpcWeb',
  (_message: object, _scope, name): GrpcWebFilterSettings => ({
    kind: 'grpc_web',
    name,
    options: {},
  }),
);

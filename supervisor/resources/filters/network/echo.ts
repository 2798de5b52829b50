/** Resolves echo, which has no settings. */
import { networkFilter } from '../network-filter-row.ts';

export const ECHO_FILTER = networkFilter(
  'envoy.filters.network.echo',
  'envoy.extensions.filters.network.echo.v3.Echo',
  true,
  () => ({ kind: 'echo' }),
);

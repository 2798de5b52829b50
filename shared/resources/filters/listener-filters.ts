/** Every listener filter: one line each. Their kinds and stats follow from their declarations. */
import { type DeclaredBy, templatesOf } from './declare-filter.ts';
import { HTTP_INSPECTOR_DECLARATION } from './listener/http-inspector.ts';
import { LISTENER_LOCAL_RATE_LIMIT_DECLARATION } from './listener/local-rate-limit.ts';
import { ORIGINAL_DST_DECLARATION } from './listener/original-dst.ts';
import { PROXY_PROTOCOL_DECLARATION } from './listener/proxy-protocol.ts';
import { LISTENER_FILTER_STATE_DECLARATION } from './listener/set-filter-state.ts';
import { TLS_INSPECTOR_DECLARATION } from './listener/tls-inspector.ts';

const LISTENER_FILTERS = [
  HTTP_INSPECTOR_DECLARATION,
  ORIGINAL_DST_DECLARATION,
  PROXY_PROTOCOL_DECLARATION,
  TLS_INSPECTOR_DECLARATION,
  LISTENER_LOCAL_RATE_LIMIT_DECLARATION,
  LISTENER_FILTER_STATE_DECLARATION,
] as const;

/** In a listener they stand in the order in which they look at a connection. */
export type ListenerFilter = DeclaredBy<typeof LISTENER_FILTERS>;

export const LISTENER_FILTER_TEMPLATES = templatesOf(LISTENER_FILTERS);
